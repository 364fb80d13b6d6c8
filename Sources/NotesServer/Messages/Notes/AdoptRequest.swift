import AutomergeRepo
import JSONRPC

/// `notes/adopt`: makes an open buffer, or a file, a note.
struct AdoptRequest: EditorRequest {
  static let method = "notes/adopt"

  let uri: String

  init(_ params: Parameters) throws(ResponseError) { uri = try params.string("uri") }

  func perform(for editor: Editor) async throws -> Result {
    Result(id: try await editor.adopt(uri).id)
  }

  struct Result: RequestResult {
    let id: DocumentId

    var json: JSONValue { ["id": .string(id.description), "access": .string(Access.write.rawValue)] }
  }
}

extension Editor {
  func adopt(_ uri: String) async throws -> NoteRecord {
    guard let path = service.notebook.folder.place(uri: uri) else {
      throw NotesError(.notText, "Save this buffer to a file first; then it can become a note.")
    }
    if case .attached? = buffers[uri] { throw NotesError(.alreadyANote, "Already a note.") }
    if service.notebook.record(atURI: uri) != nil { throw NotesError(.alreadyANote, "Already a note.") }
    // A note's file that was moved is that note's again.
    await service.fileSync.movedFiles.found(path)
    let contents = try await service.files.read(path).map { bytes in try FileContents(reading: bytes) }
    // Another request may have adopted it meanwhile.
    if let record = service.notebook.record(atURI: uri) { return record }
    let title = FileName.title(ofFile: path)
    // Nothing is awaited from here until the buffer is attached, so that no edit is lost between text and document.
    let text: [UInt8]
    let open = buffers[uri]
    if case .plain(let buffer)? = open {
      text = buffer.text
    } else if let contents {
      text = contents.text
    } else {
      throw NotesError(.notFound, "There is no file \(path), and no open buffer of it.")
    }
    try NotesError.checkIsText(text)
    let handle = try NoteMaker(service: service).document(title: title, text: text)
    let heads = handle.document.heads()
    let steps = contents.map {
      [$0.finalNewlineStep, TextDiff.delta(from: $0.text, to: text)]
    }
    let now = service.clock.date
    let created = NoteDocument(handle.document)?.created ?? now
    var record = NoteRecord(id: handle.id, title: title, created: created, modified: now, path: path)
    record.shape = contents?.shape ?? .plain
    record.fileBase = TextBase(heads: heads, steps: steps ?? [])
    record.words = Words.count(text)
    service.notebook.remember(record)
    service.fileSync.watch(handle)
    if case .plain(let buffer)? = open { try buffers.attachAdopted(uri, handle, version: buffer.version) }
    try await handle.flush()
    try await service.notebook.save(handle.id)
    return record
  }

  /// Returns the note that a request names. A file that is not a note becomes one.
  func noteOrAdopted(_ reference: NoteReference) async throws -> NoteRecord {
    if let record = try record(of: reference) { return record }
    guard case .uri(let uri) = reference else { throw NotesError.notANote }
    return try await adopt(uri)
  }
}
