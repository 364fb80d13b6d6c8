import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// The requests that export and import notes.
extension Editor {
  private enum Format: String, CaseIterable {
    case automerge, meetingnotes, markdown, json
    /// A directory in automerge-repo's layout.
    case automergeRepo = "automerge-repo"

    /// The format that the ending of a file's name implies; nil if none.
    init?(path: String) {
      switch (path as NSString).pathExtension.lowercased() {
      case "automerge": self = .automerge
      case "meetingnotes": self = .meetingnotes
      case "md", "markdown", "txt": self = .markdown
      case "json": self = .json
      default: return nil
      }
    }
  }

  // MARK: Export

  func export(_ params: Parameters) async throws -> JSONValue {
    let path = try absolutePath(params)
    let replacing = try params.boolIfPresent("replace") ?? false
    guard let format = try params.choiceIfPresent("format", as: Format.self) ?? Format(path: path) else {
      throw params.invalid("format", "is missing, and the path's ending does not tell it")
    }
    guard let record = try target(params) else { throw NotesError(.notANote, "This is not a note.") }
    let handle = try await find(record.id)
    let document = handle.document
    var place = path
    let bytes: [UInt8]
    switch format {
    case .automerge: bytes = Array(document.saved)
    case .meetingnotes: bytes = MeetingNotesFile(id: handle.id, data: document.saved).encoded
    case .markdown: bytes = Array(try markdown(of: document).utf8)
    case .json: bytes = try json(of: handle, record).encoded() + [0x0A]
    case .automergeRepo:
      bytes = Array(document.saved)
      place = RepoDirectory.snapshotPath(of: handle.id, holding: bytes, in: path)
    }
    guard try await service.files.write(place, bytes, replacing: replacing) else {
      throw NotesError(.conflict, "\(place) exists already.")
    }
    return ["path": .string(place)]
  }

  private func markdown(of document: Document) throws -> String {
    if let note = NoteDocument(document) { return try document.text(obj: note.content) }
    guard let meeting = MeetingDocument(document) else {
      throw NotesError(.notANote, "The document holds no text.")
    }
    return meeting.content.markdown
  }

  private func json(of handle: DocHandle, _ record: NoteRecord) throws -> JSONValue {
    let heads = handle.document.heads().map(\.description).sorted()
    if record.folder != nil, case .object(var meeting)? = MeetingDocument(handle.document)?.content.json {
      meeting["documentId"] = .string(handle.id.description)
      meeting["heads"] = JSONValue(heads)
      return .object(meeting)
    }
    return .object(present: [
      "id": .string(handle.id.description), "title": .string(record.title),
      "created": .int(Int64(record.created.milliseconds)), "modified": .int(Int64(record.modified.milliseconds)),
      "heads": JSONValue(heads), "text": .string(try markdown(of: handle.document)),
    ])
  }

  // MARK: Import

  func `import`(_ params: Parameters) async throws -> JSONValue {
    let path = try absolutePath(params)
    let title = try params.stringIfPresent("title")?.trimmingCharacters(in: .whitespacesAndNewlines)
    if title == "" { throw params.invalid("title", "must not be empty") }
    if try await service.files.names(in: path) != nil { return try await importDirectory(path) }
    guard let bytes = try await service.files.read(path) else {
      throw NotesError(.notFound, "There is no file \(path).")
    }
    let record: NoteRecord
    switch try await ImportedFile.read(bytes) {
    case .document(let document, let id): return try await take(document, id: id, title: title, path: path)
    case .text(let text, let ownTitle): record = try await make(title ?? ownTitle ?? FileName.title(ofFile: path), text)
    case .meeting(let meeting):
      var content = meeting
      if let title { content.title = title }
      record = try await makeMeeting(content)
    }
    return place(record)
  }

  private func importDirectory(_ path: String) async throws -> JSONValue {
    var places: [JSONValue] = []
    for (id, folder) in try await RepoDirectory.documents(in: path, service.files) {
      guard let document = try await RepoDirectory.load(folder, service.files), document.isNoteOrMeeting else {
        continue
      }
      places.append(try await take(document, id: id, title: nil, path: folder))
    }
    guard case .object(var first)? = places.first else {
      throw NotesError(.notFound, "There is no note in \(path).")
    }
    first["notes"] = .array(places)
    return .object(first)
  }

  private func make(_ title: String, _ text: [UInt8]) async throws -> NoteRecord {
    let name = title.isEmpty ? FileName.untitled : title
    let handle = try makeDocument(title: name, text: text)
    return try await writeWorkingFile(for: handle, title: name, directory: service.notesDirectory)
  }

  /// Makes a document with a history a note. Merges a copy of a document that is already here; otherwise a document without an
  /// id gets a new one.
  private func take(_ document: Document, id: DocumentId?, title: String?, path: String) async throws -> JSONValue {
    guard document.isNoteOrMeeting else { throw NotesError(.notANote, "The document holds no text.") }
    let known = try await id == nil ? original(of: document) : id
    let isHere = known.flatMap { service.notebook[$0] } != nil
    let (record, changes) = try await merge(document, id: known, title: title, path: path)
    guard isHere, case .object(var members) = place(record) else { return place(record) }
    members["known"] = true
    members["title"] = .string(record.title)
    members["changes"] = JSONValue(changes)
    return .object(members)
  }

  /// Returns how many changes were new besides.
  private func merge(
    _ document: Document, id: DocumentId?, title: String?, path: String
  ) async throws -> (NoteRecord, changes: Int) {
    let handle: DocHandle
    var changes = 0
    if let id {
      switch await service.repo.find(id, within: Self.importSearch) {
      case .found(let known):
        changes = try known.merge(document)
        handle = known
      case .deleted:
        try await service.repo.undelete(id)
        handle = try service.repo.create(document, id: id)
      case .unavailable, .timedOut: handle = try service.repo.create(document, id: id)
      case .failed(let problem): throw NotesError(.storeUnavailable, "The store cannot be read: \(problem).")
      }
    } else {
      handle = try service.repo.create(document)
    }
    service.notebook.update(handle.id) { $0.deletedSince = nil }
    guard let note = NoteDocument(handle.document), service.notebook[handle.id]?.path == nil else {
      return (try await open(handle.id), changes)
    }
    let own = note.title.flatMap { $0.isEmpty ? nil : $0 }
    let record = try await writeWorkingFile(
      for: handle, title: title ?? own ?? FileName.title(ofFile: path), directory: service.notesDirectory)
    if let title, title != own { return (try await rename(record, to: title), changes) }
    return (record, changes)
  }

  /// How far apart the creation times in a document and its record may be.
  private static let creationTolerance: TimeInterval = 2

  /// The note of which a document without an id is a copy: the two have changes in common. Nil if there is none.
  /// - Complexity: O(n) in the notes that were made at the same time; in all of them if the document does not say when.
  private func original(of document: Document) async throws -> DocumentId? {
    let created = NoteDocument(document)?.created
    for record in service.notebook.records.values where record.item == nil {
      if let created, abs(record.created.timeIntervalSince(created)) > Self.creationTolerance { continue }
      guard case .found(let handle) = await service.repo.find(record.id, within: Self.importSearch) else { continue }
      if handle.document.sharesHistory(with: document) { return record.id }
    }
    return nil
  }

  /// The time limit for asking peers for a document that a file names.
  private static let importSearch: Duration = .seconds(2)

  // MARK: Merging

  func merge(_ params: Parameters) async throws -> JSONValue {
    let path = try absolutePath(params)
    guard let record = try target(params) else { throw NotesError(.notANote, "This is not a note.") }
    let handle = try await find(record.id)
    try service.checkMayWrite(record.id)
    let other = try await copy(of: record.id, at: path)
    if !other.isOfThisId, !handle.document.sharesHistory(with: other.document) {
      throw NotesError(.noSharedHistory, "\(path) is another document than \"\(record.title)\"; import it instead.")
    }
    let count = try handle.merge(other.document)
    try await service.caretaker.synchronize(handle)
    return ["changes": JSONValue(count)]
  }

  /// The document in a file, or in a directory of documents, that claims to be another copy of `id`.
  private func copy(of id: DocumentId, at path: String) async throws -> (document: Document, isOfThisId: Bool) {
    let stranger = NotesError(.noSharedHistory, "\(path) is no copy of this note; import it instead.")
    if try await service.files.names(in: path) != nil {
      let folder = try await RepoDirectory.documents(in: path, service.files).first { $0.0 == id }?.1
      guard let folder, let document = try await RepoDirectory.load(folder, service.files) else { throw stranger }
      return (document, true)
    }
    guard let bytes = try await service.files.read(path) else {
      throw NotesError(.notFound, "There is no file \(path).")
    }
    guard case .document(let document, let named) = try await ImportedFile.read(bytes), named == nil || named == id
    else { throw stranger }
    return (document, named == id)
  }

  private func absolutePath(_ params: Parameters) throws(ResponseError) -> String {
    let path = try params.string("path")
    guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw params.invalid("path", "must be an absolute path") }
    return path
  }
}

extension Document {
  /// The whole document, in the form that `save` writes. Calling `save` on the document itself would mark it as stored for
  /// `encodeNewChanges`, by which the store finds new changes.
  fileprivate var saved: Data { fork().save() }

  var isNoteOrMeeting: Bool { NoteDocument(self) != nil || MeetingDocument(self) != nil }

  /// Whether the two have a change in common.
  /// - Complexity: O(n) in the changes.
  func sharesHistory(with other: Document) -> Bool {
    let ours = Set(getHistory())
    return other.unknown(ours).count < ours.count
  }
}
