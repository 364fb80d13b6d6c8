import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/texts`: the texts of a document, of which one can be chosen as the note.
struct TextsRequest: EditorRequest {
  static let method = "notes/texts"

  enum Source {
    case file(String)
    case document(DocumentId)
  }

  let source: Source

  init(_ params: Parameters) throws(ResponseError) {
    if let id = try params.documentIdIfPresent("id") {
      source = .document(id)
    } else {
      source = .file(try params.absolutePath("path"))
    }
  }

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    switch source {
    case .document(let id): return await Result(of: try await service.fetch(service.notebook.latest(id)).document)
    case .file(let path):
      guard let bytes = try await service.files.read(path) else {
        throw NotesError(.notFound, "There is no file \(path).")
      }
      guard case .document(let file, _) = try await ImportedFile.read(bytes) else {
        throw NotesError(.notANote, "\(path) is not an Automerge document.")
      }
      return await Result(of: file.document)
    }
  }

  struct Result: RequestResult {
    let list: TextList
    /// The note's text, if the document says which it is.
    let chosen: ObjId?

    init(of document: Document) async {
      list = await TextList(of: document)
      chosen = NoteDocument(document)?.content
    }

    var json: JSONValue {
      let path = chosen.flatMap { chosen in list.places.first { $0.text == chosen }?.path }
      return .object(present: ["texts": list.json, "text": path.map { .string($0) }])
    }
  }
}
