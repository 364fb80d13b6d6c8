import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// The requests that rename notes, put them away, restore them, and list recovered texts.
extension Session {
  /// How long a deleted note can be restored. Source: EditorProtocol.md, section 4.
  static let recoverableTime: TimeInterval = 30 * 24 * 60 * 60

  /// The title is text in the document; the file is renamed at once, or when no editor has it open any more.
  func rename(_ params: Parameters) async throws -> JSONValue {
    let title = try params.string("title").trimmingCharacters(in: .whitespacesAndNewlines)
    guard !title.isEmpty else { throw params.invalid("title", "must not be empty") }
    guard !title.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw params.invalid("title", "must be one line without control characters")
    }
    guard let record = try target(params) else { throw NotesError(.notANote, "This is not a note.") }
    return place(try await rename(record, to: title))
  }

  func rename(_ record: NoteRecord, to title: String) async throws -> NoteRecord {
    let handle = try await find(record.id)
    try checkMayWrite(record.id)
    if record.folder != nil, let meeting = MeetingDocument(handle.document) {
      try handle.change { _ in try meeting.rename(to: title) }
    } else {
      guard let note = NoteDocument(handle.document, item: record.item) else {
        throw NotesError(.notANote, "The document \(record.id) holds no text.")
      }
      try handle.change { _ in try note.rename(to: title) }
    }
    service.notebook.update(record.key) { ($0.title, $0.modified) = (title, service.clock.date) }
    try await service.notebook.save(record.key, withBase: false)
    try await service.caretaker.synchronize(handle)
    return service.notebook[record.key] ?? record
  }

  func delete(_ params: Parameters) async throws -> JSONValue {
    let isForEveryone = try params.boolIfPresent("forEveryone") ?? false
    guard let record = try target(params) else { throw NotesError(.notANote, "This is not a note.") }
    let id = record.id
    let handle = try await find(id)
    await settleOpenings(of: id)
    if let item = record.item {
      try await deleteItem(item, of: handle)
      return [:]
    }
    if isForEveryone {
      try checkMayWrite(id)
      let date = service.clock.date
      try handle.change { document in try NoteDocument.setDeletion(date, of: document) }
      service.notebook.update(id) { $0.deletionSeen = date }
    }
    let reason: NoteNews.Reason = isForEveryone ? .deletedForEveryone : .deleted
    // The editor hears of the deletion when it is stored: then it survives a crash, and can be taken back.
    let left = attachments(of: id).compactMap { leave(uri: $0.uri, reason) }
    do {
      try await service.caretaker.putAway(handle)
    } catch {
      for buffer in left { FileURI.path(uri: buffer.uri).map(becameNote) }
      throw error
    }
    for buffer in left { tell(buffer) }
    let until = service.clock.date.addingTimeInterval(Self.recoverableTime)
    return ["recoverableUntil": .int(Int64(until.milliseconds))]
  }

  func undelete(_ params: Parameters) async throws -> JSONValue {
    let id = try documentId(try params.string("id"), params)
    guard service.notebook[id]?.deletedSince != nil else {
      throw NotesError(.notFound, "There is no deleted note \(id).")
    }
    let handle = try await find(id)
    service.notebook.update(id) { $0.deletedSince = nil }
    // A peer that gets the note from now on must not delete it; one that has already done so keeps it deleted.
    if service.mayWrite(id) { try handle.change { document in try NoteDocument.setDeletion(nil, of: document) } }
    if MeetingDocument(handle.document) != nil, NoteDocument(handle.document) == nil {
      return place(try await openMeeting(handle))
    }
    let title = service.notebook[id]?.title ?? NoteDocument(handle.document)?.title ?? FileName.untitled
    return place(try await writeWorkingFile(for: handle, title: title, directory: service.notesDirectory))
  }

  /// Another person has deleted the note for everyone: open buffers become plain files, and the note can be restored.
  ///
  /// - Parameter isNews: whether the person has not been told of it yet
  func deletedForEveryone(_ handle: DocHandle, isNews: Bool) {
    let title = service.notebook[handle.id]?.title ?? handle.id.description
    let open = attachments(of: handle.id)
    for attachment in open { detach(uri: attachment.uri, .deletedForEveryone) }
    guard isNews, open.isEmpty, phase == .running, isNotesClient else { return }
    connection.notify(
      "notes/event",
      [
        "kind": "deleted", "id": .string(handle.id.description), "title": .string(title),
        "message": .string(NoteNews.detached(.deletedForEveryone).message(title: title)),
      ])
  }

  /// Permanently. Other people keep their copies.
  func purge(_ params: Parameters) async throws -> JSONValue {
    let id = try documentId(try params.string("id"), params)
    guard let record = service.notebook[id] else { throw NotesError(.notFound, "There is no note \(id).") }
    guard record.deletedSince != nil else {
      throw NotesError(.conflict, "\"\(record.title)\" is not deleted; only a deleted note can be removed for good.")
    }
    await endSharing(of: id, params)
    try await service.purge(id)
    // The buffers that stayed when it was deleted say that it can be restored.
    let event = NoteNews.detached(.purged).parameters(uri: nil, id: id, title: record.title, peer: nil, name: nil)
    service.siblingEvents.tell(event)
    if isNotesClient { deliver(event) }
    return [:]
  }

  /// Ends the sharing of a note: guests keep their copies, and a host hears that its guest is gone.
  private func endSharing(of id: DocumentId, _ params: Parameters) async {
    do {
      if try await forward("notes/unshare", params) == nil { try await service.sharing.unshare(id, from: nil) }
    } catch {
      log.notice("Nobody was told that \(id) is removed here: \(error)")
    }
  }

  /// Every text that an overwrite would have lost, newest first, as files to look at.
  func recovered(_ params: Parameters) async throws -> JSONValue {
    let kept = try await service.repo.storage?.loadRange([RecoveredText.collection]) ?? []
    var texts: [JSONValue] = []
    for text in kept.compactMap(RecoveredText.init).sorted(by: { $0.time > $1.time }) {
      let title = service.notebook[text.id]?.title ?? text.id.description
      let path = RecoveredText.path(title: title, time: text.time, in: service.notesDirectory)
      _ = try await service.files.create(path, text.text)
      texts.append([
        "id": .string(text.id.description), "title": .string(title), "time": JSONValue(text.time),
        "reason": .string(text.reason), "path": .string(path),
      ])
    }
    return ["texts": .array(texts)]
  }
}

/// A text as it was before parts of it were replaced, perhaps by mistake.
struct RecoveredText {
  static let collection = "recovered"

  var id: DocumentId
  /// Milliseconds since 1970.
  var time: Int
  var reason: String
  var text: [UInt8]

  init(id: DocumentId, time: Int, reason: String, text: [UInt8]) {
    (self.id, self.time, self.reason, self.text) = (id, time, reason, text)
  }

  var item: StoredItem {
    StoredItem(
      key: [Self.collection, id.description, String(time)],
      data: Data(CBOR.record(["reason": .text(reason), "text": .bytes(Data(text))]).encoded()))
  }

  /// Nil if the bytes are not one. An earlier version kept the bare text.
  init?(_ item: StoredItem) {
    guard item.key.count == 3, let id = DocumentId(item.key[1]), let time = Int(item.key[2]) else { return nil }
    let record = try? CBOR(item.data, limits: .stored)
    let text = record?["text"]?.bytes ?? item.data
    self.init(
      id: id, time: time, reason: record?["reason"]?.text ?? "the editor's full text replaced it", text: Array(text))
  }

  /// In a folder that no list of notes shows.
  static func path(title: String, time: Int, in directory: String) -> String {
    let date = Date(milliseconds: time).ISO8601Format().replacingOccurrences(of: ":", with: ".")
    let name = FileName.name(forTitle: String(title.prefix(120)) + " " + date + " \(time % 1000)")
    return directory + "/.recovered/" + name
  }
}
