import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/blame`: who wrote the parts of a text, and when; with a `width`, a label of that width for each line as well.
struct BlameRequest: EditorRequest {
  static let method = "notes/blame"

  /// Neighbouring stretches that one author wrote within this time, in seconds, count as one.
  private static let pause: TimeInterval = 120

  let note: NoteReference
  let range: PositionRange
  /// Of the labels, if they are wanted.
  let width: Int?

  init(_ params: Parameters) throws(ResponseError) {
    width = try params.widthIfPresent()
    range = try params.positionRange("range")
    note = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> Result {
    let past = try await PastNote(note, editor)
    let text = ShownText(past, editor)
    let colors = Dictionary(
      editor.service.presenceTracker.people(in: past.record.id).map { ($0.name, $0.mark.color) }
    ) { first, _ in first }
    let spans = try stretches(in: past, text.utf8Range(of: range)).map { stretch in
      let name = past.authors.name(of: stretch.actor, isVerified: true)
      return Span(
        range: PositionRange(start: text.position(of: stretch.start), end: text.position(of: stretch.end)),
        author: past.authors.name(of: stretch.actor, isVerified: stretch.isVerified),
        time: stretch.time, color: colors[name] ?? Palette.color(of: NoteAuthors.person(of: stretch.actor)))
    }
    let time = ScreenTime(now: editor.service.clock.date)
    return Result(spans: spans, labels: width.map { BlameLabels(of: spans, in: range, width: $0, time) })
  }

  private typealias Stretch = (start: Int, end: Int, actor: ActorId, isVerified: Bool, time: Date)

  private func stretches(in past: PastNote, _ part: Range<Int>) throws -> [Stretch] {
    var stretches: [Stretch] = []
    for span in try past.document.blame(obj: past.note.content) {
      let (start, end) = (max(part.lowerBound, Int(span.start)), min(part.upperBound, Int(span.end)))
      guard start < end else { continue }
      let isVerified = past.vouching.covers(span.change, of: past.document)
      if let last = stretches.last, last.actor == span.actor, last.isVerified == isVerified, last.end == start,
        abs(last.time.timeIntervalSince(span.timestamp)) <= Self.pause
      {
        stretches[stretches.count - 1].end = end
        stretches[stretches.count - 1].time = max(last.time, span.timestamp)
      } else {
        stretches.append((start, end, span.actor, isVerified, span.timestamp))
      }
    }
    return stretches
  }

  struct Span {
    let range: PositionRange
    let author: String
    let time: Date
    let color: Int

    var json: JSONValue {
      [
        "range": range.json, "author": .string(author), "time": JSONValue(time.milliseconds),
        "color": JSONValue(color),
      ]
    }
  }

  struct Result: RequestResult {
    let spans: [Span]
    let labels: BlameLabels?

    var json: JSONValue {
      .object(present: [
        "spans": .array(spans.map(\.json)), "labels": labels.map { .array($0.texts.map(JSONValue.string)) },
        "colors": labels.map { .array($0.colors.map { JSONValue($0) }) },
      ])
    }
  }
}
