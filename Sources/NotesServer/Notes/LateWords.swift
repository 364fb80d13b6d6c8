import Automerge
import Foundation

/// Words that people wrote into a document after it had moved to another one, without the removed guests.
///
/// Both documents share all changes up to the move, so later changes of the remaining people are simply applied to the
/// new one; applying them again has no effect. Changes on top of those of removed guests cannot be: each person brings
/// their own words, as a text in which the removed guests' changes are reverted.
struct LateWords {
  /// Changes for the new document, as chunks, dependencies first.
  private(set) var changes = Data()
  /// This person's changes that depend on excluded ones.
  private(set) var stuck: [ChangeHash] = []
  /// Changes of the removed guests, and others' changes that depend on them, in order.
  private(set) var leftOut: [ChangeHash] = []

  /// Whether any of these changes are this person's.
  private(set) var hasOwn = false

  /// - Complexity: O(n) in the changes that only the old document has.
  init(in old: Document, notIn new: Document, isRemoved: (ActorId) -> Bool, isOwn: (ActorId) -> Bool) {
    let heads = new.heads()
    let late = old.changes(since: heads.subtracting(old.unknown(heads)))
    let unknown = new.unknown(Set(late.map(\.hash)))
    var blocked: Set<ChangeHash> = []
    for change in late where unknown.contains(change.hash) {
      if isOwn(change.actorId) { hasOwn = true }
      guard isRemoved(change.actorId) || change.deps.contains(where: blocked.contains) else {
        changes += change.bytes
        continue
      }
      blocked.insert(change.hash)
      if !isRemoved(change.actorId), isOwn(change.actorId) {
        stuck.append(change.hash)
      } else {
        leftOut.append(change.hash)
      }
    }
  }

  /// A fork of the new document, which must have `changes` already, with the words of the stuck changes as one change of a new
  /// author; nil if there are none, or they leave no visible words.
  ///
  /// - Parameter text: the text object, which both documents have.
  func withStuckWords(of old: Document, in new: Document, text: ObjId) throws -> Document? {
    guard !stuck.isEmpty else { return nil }
    let without = old.fork()
    for change in leftOut.reversed() { try without.revert(change) }
    // The last state that both documents have: the difference from there is what to bring.
    let shared = Set(old.getHistory()).subtracting(new.unknown(Set(old.getHistory())))
    let base = try new.forkAt(heads: Self.heads(of: shared, in: old))
    let words = TextDiff.delta(
      from: Array(try base.text(obj: text).utf8), to: Array(try without.text(obj: text).utf8))
    guard !words.isIdentity else { return nil }
    for splice in words.splices {
      try base.spliceText(
        obj: text, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
    base.commitWith(message: nil)
    return base
  }

  /// The heads of a set of changes that contains all its dependencies.
  private static func heads(of changes: Set<ChangeHash>, in document: Document) -> Set<ChangeHash> {
    var heads = changes
    for change in document.changes(since: []) where changes.contains(change.hash) { heads.subtract(change.deps) }
    return heads
  }
}
