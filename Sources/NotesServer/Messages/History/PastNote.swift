import Automerge
import AutomergeRepo
import JSONRPC

/// A note and its past, for the requests about it.
@AutomergeRepo
struct PastNote {
  let record: NoteRecord
  /// The buffer's, if the request names one.
  let uri: String?
  let note: NoteDocument
  /// The authors whose signatures cover its changes.
  let vouching: ChangeVouching
  let authors: NoteAuthors
  var document: Document { note.document }

  init(_ reference: NoteReference, _ editor: Editor) async throws {
    let service = editor.service
    record = try editor.note(reference)
    if case .uri(let named) = reference { uri = named } else { uri = nil }
    let handle = try await service.fetch(record.id)
    guard let note = NoteDocument(handle.document, item: record.item) else {
      guard MeetingDocument(handle.document) == nil else {
        throw NotesError(.notANote, "A meeting has no history of its own; open one of its items.")
      }
      throw NotesError(.notANote, "The document \(record.id) contains no text.")
    }
    (self.note, vouching) = (note, handle.vouching())
    let isAlone = service.sharing.host(of: record.id) == nil && service.sharing.people(on: record.id).isEmpty
    authors = NoteAuthors(of: note, own: (service.identity.person, service.identity.name), isAlone: isAlone) {
      [sharing = service.sharing] in sharing.metName(ofAuthor: $0)
    }
  }

  /// The text at these heads, in UTF-8.
  func text(at heads: Set<ChangeHash>) throws -> [UInt8] {
    Array(try document.textAt(obj: note.content, heads: heads).utf8)
  }

  /// These heads, if all are known here.
  func known(_ heads: Set<ChangeHash>) throws(NotesError) -> Set<ChangeHash> {
    guard document.unknown(heads).isEmpty else {
      throw NotesError(.notFound, "This version is not in the note's history.")
    }
    return heads
  }
}

extension Parameters {
  /// A state of a document, as `notes/history` names it.
  func heads(_ field: String) throws(ResponseError) -> Set<ChangeHash> {
    guard let heads = try headsIfPresent(field) else { throw invalid(field, "is missing") }
    return heads
  }

  func headsIfPresent(_ field: String) throws(ResponseError) -> Set<ChangeHash>? {
    guard let texts = try stringsIfPresent(field) else { return nil }
    var heads: Set<ChangeHash> = []
    for text in texts {
      guard let hash = ChangeHash(hexadecimal: text) else { throw invalid(field, "must be hashes of changes") }
      heads.insert(hash)
    }
    return heads
  }
}

extension ChangeHash {
  /// Reads 64 hexadecimal digits, the form of `description`.
  fileprivate init?(hexadecimal text: String) {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 64, text.utf8.count == 64 else { return nil }
    self.init(bytes: stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
  }
}
