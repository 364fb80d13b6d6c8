import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// The authors of the parts of a note's text.
@AutomergeRepo
struct Blame {
  /// Neighbouring stretches that one author wrote within this time, in seconds, count as one.
  private static let pause: TimeInterval = 120

  private let past: PastNote
  private let editor: Editor

  init(_ past: PastNote, _ editor: Editor) { (self.past, self.editor) = (past, editor) }

  /// The stretches of a part of the text, in its order.
  ///
  /// - Parameter byLine: whether those of different lines are kept apart, so that each line has its own last author. Otherwise
  ///   what an author goes on to write below makes all of it younger than a word that another one has corrected above.
  func spans(in range: PositionRange, byLine: Bool = false) throws -> [Span] {
    let text = ShownText(past, editor)
    let colors = Dictionary(
      editor.service.presenceTracker.people(in: past.record.id).map { ($0.name, $0.mark.color) }
    ) { first, _ in first }
    let part = text.utf8Range(of: range)
    return try stretches(in: part, joins: { byLine ? text.areOnOneLine($0, $1) : true }).map { stretch in
      let name = past.authors.name(of: stretch.actor, isVerified: true)
      return Span(
        range: PositionRange(start: text.position(of: stretch.start), end: text.position(of: stretch.end)),
        author: past.authors.name(of: stretch.actor, isVerified: stretch.isVerified),
        time: stretch.time, color: colors[name] ?? Palette.color(of: NoteAuthors.person(of: stretch.actor)))
    }
  }

  private typealias Stretch = (start: Int, end: Int, actor: ActorId, isVerified: Bool, time: Date)

  /// - Parameter joins: whether the stretch between two places may be one
  private func stretches(in part: Range<Int>, joins: (Int, Int) -> Bool) throws -> [Stretch] {
    var stretches: [Stretch] = []
    for span in try past.document.blame(obj: past.note.content, in: UInt64(part.lowerBound)..<UInt64(part.upperBound)) {
      let (start, end) = (Int(span.start), Int(span.end))
      let isVerified = past.vouching.covers(span.change, of: past.document)
      if let last = stretches.last, last.actor == span.actor, last.isVerified == isVerified, last.end == start,
        abs(last.time.timeIntervalSince(span.timestamp)) <= Self.pause,
        last.time == span.timestamp || joins(last.start, end)
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
}
