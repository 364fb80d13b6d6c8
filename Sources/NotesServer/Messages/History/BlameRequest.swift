import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/blame`: who wrote the parts of a text, and when; with a `width`, a label of that width for each line as well.
struct BlameRequest: EditorRequest {
  static let method = "notes/blame"

  let note: NoteReference
  let range: PositionRange
  /// The width of the labels, if they are wanted.
  let width: Int?

  init(_ params: Parameters) throws(ResponseError) {
    width = try params.widthIfPresent()
    range = try params.positionRange("range")
    note = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> Result {
    let blame = try Blame(try await PastNote(note, editor), editor, in: range)
    let time = ScreenTime(now: editor.service.clock.date)
    let labels = width.map { BlameLabels(of: blame.lineSpans(), in: range, width: $0, time) }
    return Result(spans: blame.spans(), labels: labels)
  }

  struct Result: RequestResult {
    let spans: [Blame.Span]
    let labels: BlameLabels?

    var json: JSONValue {
      .object(present: [
        "spans": .array(spans.map(\.json)), "labels": labels.map { .array($0.texts.map(JSONValue.string)) },
        "colors": labels.map { .array($0.colors.map { JSONValue($0) }) },
      ])
    }
  }
}
