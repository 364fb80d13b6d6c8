import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// The requests that create and find notes.
extension Editor {
  private enum NoteKind: String, CaseIterable { case note, meeting }

  func create(_ params: Parameters) async throws -> JSONValue {
    let title = try params.string("title").trimmingCharacters(in: .whitespacesAndNewlines)
    guard !title.isEmpty else { throw params.invalid("title", "must not be empty") }
    let text = Array((try params.stringIfPresent("text") ?? "").utf8)
    try checkIsText(text)
    if try params.choiceIfPresent("kind", as: NoteKind.self) == .meeting {
      return place(try await makeMeeting(MeetingContent(title: title, attendees: [], agendas: [])))
    }
    let directory = try params.stringIfPresent("directory") ?? service.notesDirectory
    let handle = try makeDocument(title: title, text: text)
    let record = try await writeWorkingFile(for: handle, title: title, directory: directory)
    return place(record)
  }

  /// Makes an open buffer, or a file, a note.
  func adopt(_ params: Parameters) async throws -> JSONValue {
    [
      "id": .string(try await adopt(uri: try params.string("uri")).id.description),
      "access": .string(Access.write.rawValue),
    ]
  }

  func adopt(uri: String) async throws -> NoteRecord {
    guard let path = FileURI.path(uri: uri) else {
      throw NotesError(.notText, "Only a buffer that has a file can become a note: save it first.")
    }
    if case .attached? = buffers[uri] { throw NotesError(.alreadyANote, "This is a note already.") }
    if service.notebook.record(atPath: path) != nil { throw NotesError(.alreadyANote, "This is a note already.") }
    let contents = try await service.files.read(path).map { bytes in try FileContents(reading: bytes) }
    let title = FileName.title(ofFile: path)
    // From here on nothing is awaited until the buffer is attached, so no edit is lost between text and document.
    let text: [UInt8]
    let open = buffers[uri]
    if case .plain(let buffer)? = open {
      text = buffer.text
    } else if let contents {
      text = contents.text
    } else {
      throw NotesError(.notFound, "There is no file \(path), and no open buffer of it.")
    }
    try checkIsText(text)
    let handle = try makeDocument(title: title, text: text)
    let heads = handle.document.heads()
    let steps = contents.map { [$0.finalNewlineStep, TextDiff.delta(from: $0.text, to: text)] } ?? []
    let now = service.clock.date
    let created = NoteDocument(handle.document)?.created ?? now
    var record = NoteRecord(id: handle.id, title: title, created: created, modified: now, path: path)
    record.shape = contents?.shape ?? .plain
    record.fileBase = TextBase(heads: heads, steps: steps)
    record.words = Words.count(text)
    service.notebook.remember(record)
    service.caretaker.watch(handle)
    if case .plain(let buffer)? = open { try buffers.attachAdopted(uri, handle, version: buffer.version) }
    try await handle.flush()
    try await service.notebook.save(handle.id)
    return record
  }

  func openNote(_ params: Parameters) async throws -> JSONValue {
    let id: DocumentId
    if let text = try params.stringIfPresent("id") {
      id = service.notebook.latest(try documentId(text, params))
    } else {
      let title = try params.string("title")
      let name = NoteName(title)
      let found = name.matches(in: service.notebook.byModification, id: { _ in nil }, title: \.title)
      guard found.count <= 1 else { throw NotesError(.conflict, name.ambiguity(found.map(\.id.description))) }
      guard let record = found.first else { throw NotesError(.notFound, "There is no note \"\(title)\".") }
      id = record.id
    }
    let record = try await open(id)
    guard let item = try params.stringIfPresent("item") else { return place(record) }
    return place(try await openItem(item, of: try await find(id)))
  }

  /// Makes sure that the note is here and its working file exists. Answers with its successor if it is moved meanwhile.
  func open(_ id: DocumentId) async throws -> NoteRecord {
    let record = try await openHere(id)
    let latest = service.notebook.latest(id)
    return latest == id ? record : try await open(latest)
  }

  private func openHere(_ id: DocumentId) async throws -> NoteRecord {
    let handle = try await find(id)
    // It goes on as another document since the request came; that has the file now.
    if let moved = service.notebook[id], moved.successor != nil { return moved }
    if service.notebook[id]?.folder != nil || NoteDocument(handle.document) == nil {
      return try await openMeeting(handle)
    }
    if let record = service.notebook[id], let path = record.path {
      do {
        try await service.caretaker.synchronize(handle)
      } catch {
        // A full disk is no reason to withhold the note: the buffer says that it is not stored.
        guard case .found = try await service.files.look(path, since: nil) else { throw error }
        service.caretaker.planAgain(handle, error)
      }
      return service.notebook[id] ?? record
    }
    let title = NoteDocument(handle.document)?.title ?? "Note"
    return try await writeWorkingFile(for: handle, title: title, directory: service.notesDirectory)
  }

  // MARK: Parts

  func find(_ id: DocumentId) async throws(NotesError) -> DocHandle {
    let outcome = await service.find(id)
    guard case .found(let handle) = outcome else { throw NotesError(outcome, id) }
    return handle
  }

  /// The note that `uri` or `id` names.
  func target(_ params: Parameters) throws -> NoteRecord? {
    if let text = try params.stringIfPresent("id") {
      let id = service.notebook.latest(try documentId(text, params))
      let key = NoteKey(id, item: try params.stringIfPresent("item"))
      guard let record = service.notebook[key] else { throw NotesError(.notFound, "There is no note \(id).") }
      return record
    }
    let uri = try params.string("uri")
    if case .attached(let attachment)? = buffers[uri] { return service.notebook[attachment.key] }
    return FileURI.path(uri: uri).flatMap { service.notebook.record(atPath: $0) }
  }

  func documentId(_ text: String, _ params: Parameters) throws(ResponseError) -> DocumentId {
    guard let id = DocumentId(text) else { throw params.invalid("id", "is not the id of a document") }
    return id
  }

  /// The place of a note; for a meeting all items, and the first one's place.
  func place(_ record: NoteRecord) -> JSONValue {
    let items = record.folder == nil ? nil : service.repo.handle(of: record.id).map(itemPlaces)
    let path = record.path ?? items?.first?["path"]?.stringValue ?? record.folder
    return .object(present: [
      "id": .string(record.id.description),
      "item": record.item.map(JSONValue.string),
      "uri": path.map { .string(FileURI.uri(path: $0)) },
      "path": path.map(JSONValue.string),
      "access": .string(service.sharing.access(to: record.id).rawValue),
      "folder": record.folder.map(JSONValue.string),
      "items": items.map(JSONValue.array),
    ])
  }

  /// A new document with its first change made, in memory; storing follows.
  func makeDocument(title: String, text: [UInt8]) throws -> DocHandle {
    let document = Document(textEncoding: .utf8)
    document.actor = service.identity.actor
    let note = try NoteDocument(new: document, title: title, text: text, created: service.clock.date)
    try note.enter(person: service.identity.person, name: service.identity.name)
    document.commitWith(message: nil, timestamp: service.clock.date)
    return try service.repo.create(document)
  }

  /// Finds a free name in `directory`, writes the note's text there, and keeps the record.
  func writeWorkingFile(for handle: DocHandle, title: String, directory: String) async throws -> NoteRecord {
    try await service.makeWorkingFile(for: handle, title: title, directory: directory)
  }

  func checkIsText(_ text: [UInt8]) throws(NotesError) {
    guard !text.contains(0) else { throw NotesError(.notText, "The text contains NUL, so it is not taken for text.") }
  }
}

extension PeerSummary {
  func has(_ document: DocumentId) -> Bool { notes.contains { $0.document == document && $0.access != .none } }
}
