import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// The authors of the parts of a note's text.
@AutomergeRepo
struct Blame {
  /// Neighbouring stretches that one author wrote within this time, in seconds, count as one.
  private static let pause: TimeInterval = 120

  private let text: ShownText
  private let authors: NoteAuthors
  private let colors: [String: Int]
  /// What each change wrote, in the text's order.
  private let pieces: [Stretch]

  /// Looks up who wrote a part of the text.
  init(_ past: PastNote, _ editor: Editor, in range: PositionRange) throws {
    text = ShownText(past, editor)
    authors = past.authors
    colors = Dictionary(
      editor.service.presenceTracker.people(in: past.record.id).map { ($0.name, $0.mark.color) }
    ) { first, _ in first }
    let part = text.utf8Range(of: range)
    let found = try past.document.blame(obj: past.note.content, in: UInt64(part.lowerBound)..<UInt64(part.upperBound))
    pieces = found.map { span in
      Stretch(
        start: Int(span.start), end: Int(span.end), actor: span.actor,
        isVerified: past.vouching.covers(span.change, of: past.document), time: span.timestamp)
    }
  }

  /// The stretches of the part, in its order.
  func spans() -> [Span] { stretches(of: pieces) { _, _ in true }.map(span) }

  /// The stretches that say whose a line is. Those of different lines are kept apart, so that each line has its own last
  /// author. Otherwise a line that an author adds below would make all of the author's text newer than a word that
  /// another person corrected above.
  func lineSpans() -> [Span] {
    stretches(of: pieces.compactMap(withoutForeignNewline), joins: text.areOnOneLine).map(span)
  }

  private func span(_ stretch: Stretch) -> Span {
    let name = authors.name(of: stretch.actor, isVerified: true)
    return Span(
      range: PositionRange(start: text.position(of: stretch.start), end: text.position(of: stretch.end)),
      author: authors.name(of: stretch.actor, isVerified: stretch.isVerified),
      time: stretch.time, color: colors[name] ?? Palette.color(of: NoteAuthors.person(of: stretch.actor)))
  }

  /// The piece without the newline that it begins with, if that ends a line with text: the author of the next line typed it.
  /// Nil if nothing is left.
  private func withoutForeignNewline(_ piece: Stretch) -> Stretch? {
    let newline = UInt8(ascii: "\n")
    guard piece.start > 0, text.source.utf8(piece.start..<piece.start + 1) == [newline],
      text.source.utf8(piece.start - 1..<piece.start) != [newline]
    else { return piece }
    var rest = piece
    rest.start += 1
    return rest.start < rest.end ? rest : nil
  }

  private struct Stretch {
    var start: Int
    var end: Int
    let actor: ActorId
    let isVerified: Bool
    var time: Date
  }

  /// - Parameter joins: whether the stretch between two places may be one
  private func stretches(of pieces: [Stretch], joins: (Int, Int) -> Bool) -> [Stretch] {
    var stretches: [Stretch] = []
    for piece in pieces {
      if let last = stretches.last, last.actor == piece.actor, last.isVerified == piece.isVerified,
        last.end == piece.start, abs(last.time.timeIntervalSince(piece.time)) <= Self.pause,
        last.time == piece.time || joins(last.start, piece.end)
      {
        stretches[stretches.count - 1].end = piece.end
        stretches[stretches.count - 1].time = max(last.time, piece.time)
      } else {
        stretches.append(piece)
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
