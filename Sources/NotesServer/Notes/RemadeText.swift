import Automerge
import Foundation

/// An agenda item's text that somebody else has moved to another place of the agenda, and so made anew.
///
/// A list of Automerge knows no moving. Who moves an item makes it again, with the text as they had it, and deletes the one
/// before. What others typed into that at the same moment is not in the new one; each process that wrote such words writes
/// them there once more. Nobody else does, so they come once.
struct RemadeText {
  let old: NoteDocument
  let new: NoteDocument

  /// What `author` wrote in the old text and the new one lacks.
  ///
  /// - Parameter heads: a state in which the old text was still in the agenda
  /// - Returns: nil if it cannot be told how the new text came to be
  func wordsLeftBehind(by author: ActorId, since heads: Set<ChangeHash>) -> [TextSplice]? {
    let document = new.document
    // Who moves it knows all that they wrote themselves.
    guard let mover = Self.actor(of: new.content), mover != author else { return [] }
    guard let remaking = remaking(by: mover, since: heads) else { return nil }
    let base = Set(remaking.deps)
    guard let all = try? document.textEdits(obj: old.content, since: base),
      let others = try? document.textEdits(obj: old.content, since: base, andAllBy: author),
      let later = try? document.textEdits(obj: new.content, since: [remaking.hash])
    else { return nil }
    let own = TextDelta(all).composed(with: TextDelta(others).inverted)
    return own.transformed(over: TextDelta(later)).0.splices
  }

  /// The change in which the new text was made of the old one.
  private func remaking(by mover: ActorId, since heads: Set<ChangeHash>) -> Change? {
    new.document.changes(since: heads).first { change in
      guard change.actorId == mover,
        let text = try? new.document.textAt(obj: new.content, heads: [change.hash]), !text.isEmpty
      else { return false }
      return (try? new.document.textAt(obj: old.content, heads: Set(change.deps))) == text
    }
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
