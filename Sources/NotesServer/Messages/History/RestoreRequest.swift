import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/restore`: writes an earlier text of a note, or of a part of it, as an edit like any other.
struct RestoreRequest: EditorRequest {
  static let method = "notes/restore"

  let note: NoteReference
  let heads: Set<ChangeHash>
  /// The range in the present text; nil for all of it.
  let range: PositionRange?

  init(_ params: Parameters) throws(ResponseError) {
    note = try NoteReference(params)
    heads = try params.heads("heads")
    range = try params.positionRangeIfPresent("range")
  }

  func perform(for editor: Editor) async throws -> NoResult {
    let service = editor.service
    let past = try await PastNote(note, editor)
    try service.checkMayWrite(past.record.id)
    let shown = ShownText(past, editor)
    let text = shown.source.allUTF8
    var restored = try past.text(at: try past.known(heads))
    if let range {
      restored = TextDiff.delta(from: text, to: restored, placement: .beforeDeleted).limited(
        to: shown.utf8Range(of: range)
      ).applied(to: text)
    }
    // An editor may be typing a line between those that are replaced.
    let delta = TextDiff.delta(from: text, to: restored)
    let message = try message(past, service)
    if let binding = shown.binding {
      try binding.restore(delta.splices, message: message)
      return NoResult()
    }
    let handle = try await service.fetch(past.record.id)
    try handle.change(message: message) { _ in try past.note.make(delta.splices) }
    service.notebook.update(past.record.key) { $0.modified = service.clock.date }
    service.fileSync.meetings.examineAll(of: past.record.id)
    try await service.fileSync.synchronize(handle)
    return NoResult()
  }

  /// The commit message that the history shows: the time of the restored state.
  private func message(_ past: PastNote, _ service: Service) throws -> String {
    let state = try past.document.burst(obj: past.note.content, with: heads)
    let what = range == nil ? "restored" : "restored a part"
    guard let state else { return what }
    return "\(what) to \(ScreenTime(now: service.clock.date).full(state.end))"
  }
}
