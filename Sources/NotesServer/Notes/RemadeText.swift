import Automerge
import Foundation

/// An agenda item's text that others have moved to another place of the agenda, once or several times, and so made anew.
///
/// A list of Automerge knows no moving. Who moves an item makes it again, with the text as they had it, and deletes the one
/// before. What others typed into that at the same moment is not in the new one; each process that wrote such words writes
/// them there once more. Nobody else does, so they come once.
struct RemadeText {
  let old: NoteDocument
  let new: NoteDocument

  /// A change in which a text was made of the one before.
  private struct Move {
    let change: Change
    let from: ObjId
    let to: ObjId

    var before: Set<ChangeHash> { Set(change.deps) }
  }

  /// What `author` wrote in the old text and the new one lacks.
  ///
  /// - Parameter heads: a state in which the old text was still in the agenda
  /// - Returns: nil if it cannot be told how the new text came to be
  func wordsLeftBehind(by author: ActorId, since heads: Set<ChangeHash>) -> [TextSplice]? {
    guard let moves = moves(since: heads), let first = moves.first else { return nil }
    // Who moves it knows all that they wrote themselves.
    guard first.change.actorId != author else { return [] }
    guard let all = edits(of: old.content, since: first.before),
      let others = try? new.document.textEdits(obj: old.content, since: first.before, andAllBy: author)
    else { return nil }
    var own = all.composed(with: TextDelta(others).inverted)
    for (number, move) in moves.enumerated() {
      guard var later = edits(of: move.to, since: [move.change.hash]) else { return nil }
      if number + 1 < moves.count {
        // What comes after the next move is left behind as well, and for others to say.
        guard let leftBehind = edits(of: move.to, since: moves[number + 1].before) else { return nil }
        later = later.composed(with: leftBehind.inverted)
      }
      own = own.transformed(over: later).0
    }
    return own.splices
  }

  private func edits(of text: ObjId, since heads: Set<ChangeHash>) -> TextDelta? {
    (try? new.document.textEdits(obj: text, since: heads)).map { TextDelta($0) }
  }

  /// How the old text became the new one, the first move first.
  ///
  /// - Complexity: O(c · n) for c changes of the movers since `heads` and n items.
  private func moves(since heads: Set<ChangeHash>) -> [Move]? {
    let document = new.document
    let changes = document.changes(since: heads)
    var moves: [Move] = []
    var text = new.content
    while text != old.content {
      let mover = Self.actor(of: text)
      let change = changes.first { $0.actorId == mover && discussion(at: [$0.hash]) == text }
      guard let change, !change.deps.isEmpty, let before = discussion(at: Set(change.deps)), before != text,
        let content = try? document.textAt(obj: before, heads: Set(change.deps)),
        content == (try? document.textAt(obj: text, heads: [change.hash]))
      else { return nil }
      moves.append(Move(change: change, from: before, to: text))
      text = before
    }
    return moves.reversed()
  }

  /// The item's text in a state of the past.
  private func discussion(at heads: Set<ChangeHash>) -> ObjId? {
    new.item.flatMap { MeetingDocument(new.document, at: heads)?.item($0)?.discussion }
  }

  /// Who made an object.
  private static func actor(of object: ObjId) -> ActorId? {
    let parts = object.description.split(separator: "@")
    return parts.count == 2 ? ActorId(hexadecimal: String(parts[1])) : nil
  }
}

extension ActorId {
  /// Nil unless it is an even number of hexadecimal digits.
  init?(hexadecimal: String) {
    let digits = Array(hexadecimal.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
    }
    guard bytes.count * 2 == digits.count else { return nil }
    self.init(data: Data(bytes))
  }
}
