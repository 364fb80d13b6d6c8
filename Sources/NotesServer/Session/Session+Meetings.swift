import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// The requests about meetings: documents of which each agenda item is a buffer and a file of its own.
extension Editor {
  /// Makes sure that every item of the meeting has its file, in a folder named by the meeting's title.
  func openMeeting(_ handle: DocHandle) async throws -> NoteRecord {
    guard let meeting = MeetingDocument(handle.document) else {
      throw NotesError(.notANote, "The document \(handle.id) holds no text.")
    }
    if !meeting.isComplete, service.mayWrite(handle.id) { try handle.change { _ in try meeting.complete() } }
    let title = meeting.title.isEmpty ? "Meeting" : meeting.title
    let now = service.clock.date
    var record =
      service.notebook[handle.id] ?? NoteRecord(id: handle.id, title: title, created: now, modified: now)
    if record.folder == nil {
      record.folder = try await service.caretaker.freeFolder(for: title, in: service.notesDirectory)
      record.deletedSince = nil
      // A record without its document would name a meeting that a restarted service cannot open.
      try await handle.flush()
      service.notebook.remember(record)
      try await service.notebook.save(handle.id, withBase: false)
    }
    service.caretaker.examineAll(of: handle.id)
    try await service.caretaker.synchronize(handle)
    return service.notebook[handle.id] ?? record
  }

  /// A meeting as plain values.
  func makeMeeting(_ content: MeetingContent) async throws -> NoteRecord {
    let document = Document(textEncoding: .utf8)
    document.actor = service.identity.actor
    _ = try MeetingDocument(new: document, content)
    document.commitWith(message: nil, timestamp: service.clock.date)
    return try await openMeeting(try service.repo.create(document))
  }

  // MARK: Requests

  func items(_ params: Parameters) async throws -> JSONValue {
    let (handle, meeting) = try await meeting(params)
    return [
      "id": .string(handle.id.description), "title": .string(meeting.title), "attendees": JSONValue(meeting.attendees),
      "items": .array(itemPlaces(of: handle)),
    ]
  }

  func addItem(_ params: Parameters) async throws -> JSONValue {
    let (handle, meeting) = try await meeting(params)
    let title = try title(params)
    let text = try params.stringIfPresent("text") ?? ""
    try checkIsText(Array(text.utf8))
    let position = try params.nonNegativeIntIfPresent("position") ?? .max
    try service.checkMayWrite(handle.id)
    let item = MeetingContent.Item(id: UUID().uuidString, title: title, discussion: text)
    try change(handle) { try meeting.insert(item, at: position) }
    try await meetingChanged(handle)
    try await service.caretaker.makeFile(of: NoteKey(handle.id, item: item.id), handle)
    guard let record = service.notebook[NoteKey(handle.id, item: item.id)] else {
      throw NotesError(.conflict, "The item has no file yet, since another process is at work on it.")
    }
    return place(record)
  }

  func moveItem(_ params: Parameters) async throws -> JSONValue {
    let position = try params.nonNegativeInt("position")
    guard let record = try target(params), let id = record.item else {
      throw NotesError(.notANote, "This is not an agenda item.")
    }
    let handle = try await find(record.id)
    try service.checkMayWrite(handle.id)
    guard let meeting = MeetingDocument(handle.document), let item = meeting.item(id) else {
      throw NotesError(.notFound, "The item is not in the agenda any more.")
    }
    try change(handle) { try meeting.move(item, to: position) }
    try await meetingChanged(handle)
    return ["items": .array(itemPlaces(of: handle))]
  }

  func deleteItem(_ id: String, of handle: DocHandle) async throws {
    try service.checkMayWrite(handle.id)
    guard let meeting = MeetingDocument(handle.document), let item = meeting.item(id) else {
      throw NotesError(.notFound, "The item is not in the agenda any more.")
    }
    try handle.change { _ in try meeting.delete(item) }
    try await meetingChanged(handle)
  }

  /// Call when this person's request has added, deleted or moved items.
  private func meetingChanged(_ handle: DocHandle) async throws {
    buffers.followItems(of: handle)
    try await handle.flush()
    try await service.caretaker.synchronize(handle)
  }

  /// The item's place; creates its file if there is none yet.
  func openItem(_ item: String, of handle: DocHandle) async throws -> NoteRecord {
    let key = NoteKey(handle.id, item: item)
    guard MeetingDocument(handle.document)?.item(item) != nil else {
      throw NotesError(.notFound, "The item is not in the agenda any more.")
    }
    try await service.caretaker.makeFile(of: key, handle)
    guard let record = service.notebook[key] else {
      throw NotesError(.conflict, "The item has no file yet, since another process is at work on it.")
    }
    return record
  }

  // MARK: Parts

  /// Changes the agenda, after entering this person's name in the document.
  private func change(_ handle: DocHandle, _ body: () throws -> Void) throws {
    try handle.change { document in
      try NoteDocument.enter(person: service.identity.person, name: service.identity.name, in: document)
      try body()
    }
  }

  private func meeting(_ params: Parameters) async throws -> (DocHandle, MeetingDocument) {
    guard let record = try target(params) else { throw NotesError(.notANote, "This is not a note.") }
    let handle = try await find(record.id)
    guard service.notebook[record.id]?.folder != nil, let meeting = MeetingDocument(handle.document) else {
      throw NotesError(.notANote, "\"\(record.title)\" is not a meeting.")
    }
    return (handle, meeting)
  }

  private func title(_ params: Parameters) throws(ResponseError) -> String {
    let title = try params.string("title").trimmingCharacters(in: .whitespacesAndNewlines)
    guard !title.isEmpty else { throw params.invalid("title", "must not be empty") }
    guard !title.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw params.invalid("title", "must be one line without control characters")
    }
    return title
  }

  /// The items in the agenda's order, with their files.
  func itemPlaces(of handle: DocHandle) -> [JSONValue] {
    (MeetingDocument(handle.document)?.items ?? []).map { item in
      let record = service.notebook[NoteKey(handle.id, item: item.id)]
      return .object(present: [
        "item": .string(item.id), "title": .string(item.title),
        "uri": record?.path.map { .string(FileURI.uri(path: $0)) }, "path": record?.path.map(JSONValue.string),
      ])
    }
  }
}
