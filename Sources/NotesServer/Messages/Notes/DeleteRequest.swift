import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/delete`: deletes a note, for this person or for everyone, or an item of a meeting.
struct DeleteRequest: EditorRequest {
  static let method = "notes/delete"

  let note: NoteReference
  let isForEveryone: Bool

  init(_ params: Parameters) throws(ResponseError) {
    isForEveryone = try params.boolIfPresent("forEveryone") ?? false
    note = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    let record = try editor.note(note)
    let id = record.id
    let handle = try await service.fetch(id)
    await editor.buffers.settleOpenings(of: id)
    if let item = record.item {
      try await MeetingEditor(editor, handle).delete(item)
      return Result(recoverableUntil: nil, message: "Deleted item \"\(OneLine.shown(record.title))\"")
    }
    if isForEveryone {
      try service.checkMayWrite(id)
      let date = service.clock.date
      try handle.change { document in try NoteDocument.setDeletion(date, of: document) }
      service.notebook.update(id) { $0.deletionSeen = date }
    }
    let wasOpen = try await putAway(handle, editor)
    return Result(
      recoverableUntil: service.clock.date.addingTimeInterval(NoteRecord.recoverableTime),
      message: wasOpen ? nil : "Deleted. :NotesUndelete restores it for 30 days")
  }

  /// Returns whether a buffer showed the note; then the editor has been told.
  private func putAway(_ handle: DocHandle, _ editor: Editor) async throws -> Bool {
    let buffers = editor.buffers
    // The editor gets the news once the deletion is stored: from then on it survives a crash, and can be undone.
    let left = buffers.bindings(of: handle.id).compactMap {
      buffers.leave($0.uri, isForEveryone ? .deletedForEveryone : .deleted)
    }
    do {
      try await editor.service.fileSync.putAway(handle)
    } catch {
      for buffer in left { editor.service.notebook.record(atURI: buffer.uri)?.path.map(buffers.becameNote) }
      throw error
    }
    for buffer in left { buffers.tell(buffer) }
    return !left.isEmpty
  }

  struct Result: RequestResult {
    /// Nil for an item of a meeting, whose text is kept as a recovered text.
    let recoverableUntil: Date?
    let message: String?

    var json: JSONValue {
      .object(present: [
        "recoverableUntil": recoverableUntil.map { .int(Int64($0.milliseconds)) },
        "message": message.map(JSONValue.string),
      ])
    }
  }
}
