import AutomergeRepo
import JSONRPC

/// The note that a request names by `uri` or `id`; for a meeting, perhaps one item.
enum NoteReference {
  case id(DocumentId, item: String?)
  case uri(String)

  init(_ params: Parameters) throws(ResponseError) {
    if let id = try params.documentIdIfPresent("id") {
      self = .id(id, item: try params.stringIfPresent("item"))
    } else {
      self = .uri(try params.string("uri"))
    }
  }
}

extension Parameters {
  func documentId(_ field: String) throws(ResponseError) -> DocumentId {
    let text = try string(field)
    guard let id = DocumentId(text) else { throw invalid(field, "is not the id of a document") }
    return id
  }

  func documentIdIfPresent(_ field: String) throws(ResponseError) -> DocumentId? {
    has(field) ? try documentId(field) : nil
  }
}

extension Parameters {
  /// An Automerge URL, which names a document and perhaps a part of it. A version in it is ignored, because notes are
  /// present versions.
  func documentURLIfPresent(_ field: String) throws(ResponseError) -> AutomergeURL? {
    guard let text = try stringIfPresent(field) else { return nil }
    guard let url = AutomergeURL(text) else { throw invalid(field, "is not the URL of a document") }
    return url
  }
}

extension Editor {
  /// The note that a request names; nil if the file is not a note's.
  func record(of reference: NoteReference) throws(NotesError) -> NoteRecord? {
    switch reference {
    case .id(let id, let item):
      let id = service.notebook.latest(id)
      guard let record = service.notebook[NoteKey(id, item: item)] else {
        throw NotesError(.notFound, "There is no note \(id).")
      }
      return record
    case .uri(let uri):
      if case .attached(let binding)? = buffers[uri] { return service.notebook[binding.key] }
      return service.notebook.record(atURI: uri)
    }
  }

  func note(_ reference: NoteReference) throws(NotesError) -> NoteRecord {
    guard let record = try record(of: reference) else { throw NotesError.notANote }
    return record
  }
}
