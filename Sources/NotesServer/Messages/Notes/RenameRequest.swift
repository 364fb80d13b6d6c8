import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/rename`: changes the title, which is text in the document. The file is renamed at once, or when no editor has
/// it open any more.
struct RenameRequest: EditorRequest {
  static let method = "notes/rename"

  let note: NoteReference
  let title: String

  init(_ params: Parameters) throws(ResponseError) {
    title = try params.title("title")
    note = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> NotePlace {
    let record = try await editor.service.rename(try editor.note(note), to: title)
    for binding in editor.buffers.bindings(of: record.id) { binding.updates.statusChanged() }
    return NotePlace(record, editor.service)
  }
}

extension Service {
  func rename(_ record: NoteRecord, to title: String) async throws -> NoteRecord {
    let handle = try await fetch(record.id)
    try checkMayWrite(record.id)
    if record.folder != nil, let meeting = MeetingDocument(handle.document) {
      try handle.change { _ in try meeting.rename(to: title) }
    } else {
      guard let note = NoteDocument(handle.document, item: record.item) else {
        throw NotesError(.notANote, "The document \(record.id) contains no text.")
      }
      try handle.change { _ in try note.rename(to: title) }
    }
    notebook.update(record.key) { ($0.title, $0.modified) = (title, clock.date) }
    try await notebook.save(record.key, withBase: false)
    try await fileSync.synchronize(handle)
    return notebook[record.key] ?? record
  }
}

extension Parameters {
  /// One line, without white space at its ends.
  func title(_ field: String) throws(ResponseError) -> String {
    let title = try string(field).trimmingCharacters(in: .whitespacesAndNewlines)
    guard !title.isEmpty else { throw invalid(field, "must not be empty") }
    guard !title.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw invalid(field, "must be one line without control characters")
    }
    return title
  }
}
