import Automerge
import Foundation

/// An agenda item's text that was made again because a person moved the item, once or several times, perhaps while
/// others moved it too.
///
/// An Automerge list has no move operation. The service that moves an item creates it again, with the text that it
/// knows, and deletes the old one. What other people typed into the old one at the same moment is missing from the new
/// one. For each person, the process that has the item open writes that person's words again, including those of
/// earlier processes. Only one process of a person can have an item open, so the words are written once.
///
///     root ──move──► a ──move──► new        the text that counts
///       └────move──► b ──move──► old        the text that this process has open
///
/// Of two branches, one counts. The person who made `old` brings the text that it was made of; each person brings their own
/// words typed into it since.
struct MovedItem {
  let old: NoteDocument
  let new: NoteDocument
  /// Whether an actor belongs to the person: to this process or an earlier one.
  let isOwn: (ActorId) -> Bool

  /// The most moves that are followed that only one of the two texts has. Each takes a comparison of its texts.
  private static let maximumMoves = 64
  /// The most bytes that several of them compare.
  private static let maximumBytes = 256 << 10
  /// The most moves that are searched for one that both texts have.
  private static let maximumCourse = 1024

  /// A change that made one text from another.
  private struct Move {
    let change: Change
    let from: ObjId
    let to: ObjId

    var before: Set<ChangeHash> { Set(change.deps) }
    var after: Set<ChangeHash> { [change.hash] }
  }

  /// What the person wrote in the old text, or brought to it, and the new text lacks.
  ///
  /// - Returns: nil if the new text's moves cannot be followed
  var wordsLeftBehind: [TextSplice]? {
    guard let way = moves(to: new.content, after: course(to: old.content)),
      let branch = moves(to: old.content, after: course(to: new.content))
    else { return nil }
    guard let first = way.first, branch.first.map({ $0.from == first.from }) ?? (old.content == first.from) else {
      return nil
    }
    var own: TextDelta?
    if !branch.isEmpty {
      own = words(of: branch, beside: first)
    } else {
      own = ownWords(in: old.content, since: first.before)
    }
    guard var own else { return nil }
    guard let counted = way.last, let before = edits(along: way),
      let later = edits(of: counted.to, since: counted.after)
    else { return nil }
    // What was typed during a later move is left behind as well, and brought by others.
    own = own.transformed(over: before).mine.transformed(over: later).mine
    return own.splices
  }

  /// Whether the new text was made from an ancestor of the old one, rather than from the old one itself.
  var isBranch: Bool {
    !(moves(to: new.content, after: Set(map(of: old.content).map { [$0] } ?? []))?.contains { $0.from == old.content }
      ?? false)
  }

  /// Whether the new text was made, in one or more moves, by processes that knew all of the old one at `heads`.
  static func knows(_ heads: Set<ChangeHash>, of old: ObjId, new: NoteDocument) -> Bool {
    let moved = MovedItem(old: new, new: new, isOwn: { _ in false })
    let start = Set(moved.map(of: old).map { [$0] } ?? [])
    guard let moves = moved.moves(to: new.content, after: start), let move = moves.first(where: { $0.from == old })
    else {
      return false
    }
    return moved.edits(of: old, from: move.before, to: move.before.union(heads))?.isIdentity ?? false
  }

  /// Whether the new text has everything that people typed into the old one, which may belong to a branch that does not
  /// count.
  static func hasAll(of old: ObjId, new: NoteDocument) -> Bool {
    MovedItem(old: new.with(earlier: old), new: new, isOwn: { _ in true }).wordsLeftBehind?.isEmpty ?? false
  }

  /// What the person has to bring from a branch that does not count. `counted` was made from the same text as the
  /// branch.
  private func words(of branch: [Move], beside counted: Move) -> TextDelta? {
    guard let first = branch.first, let last = branch.last else { return nil }
    let both = first.before.union(counted.before)
    guard let ofBranch = edits(along: branch), let caughtUp = edits(of: first.from, from: first.before, to: both),
      let unknown = edits(of: first.from, from: counted.before, to: both),
      let typed = ownWords(in: last.to, since: last.after)
    else { return nil }
    guard isOwn(last.change.actorId) else {
      return typed.transformed(over: ofBranch.inverted).mine.transformed(over: caughtUp).mine
        .transformed(over: unknown.inverted).mine
    }
    return unknown.composed(with: ofBranch.composed(with: typed).transformed(over: caughtUp).mine)
  }

  /// The edits to the texts from the first move to the last one.
  private func edits(along moves: [Move]) -> TextDelta? {
    var all = TextDelta.identity
    for (move, next) in zip(moves, moves.dropFirst()) {
      guard let edits = edits(of: move.to, from: move.after, to: next.before) else { return nil }
      all = all.composed(with: edits)
    }
    return all
  }

  /// The person's edits to a text since a state, without those of others.
  private func ownWords(in text: ObjId, since heads: Set<ChangeHash>) -> TextDelta? {
    guard let all = edits(of: text, since: heads),
      let others = try? new.document.textEdits(obj: text, since: heads, andAllBy: isOwn)
    else { return nil }
    return all.composed(with: TextDelta(others).inverted)
  }

  private func edits(of text: ObjId, since heads: Set<ChangeHash>) -> TextDelta? {
    (try? new.document.textEdits(obj: text, since: heads)).map { TextDelta($0) }
  }

  /// The edits from the text at one state to that at a later one.
  private func edits(of text: ObjId, from heads: Set<ChangeHash>, to later: Set<ChangeHash>) -> TextDelta? {
    guard let all = edits(of: text, since: heads), let rest = edits(of: text, since: later) else { return nil }
    return all.composed(with: rest.inverted)
  }

  private func text(_ object: ObjId, at heads: Set<ChangeHash>) -> [UInt8]? {
    (try? new.document.textAt(obj: object, heads: heads)).map { Array($0.utf8) }
  }

  /// The maps that a text's map was made from, and itself.
  private func course(to text: ObjId) -> Set<ObjId> {
    guard let meeting = MeetingDocument(new.document), var item = map(of: text) else { return [] }
    var course: Set<ObjId> = [item]
    while course.count < Self.maximumCourse, let source = meeting.source(of: item), source < item {
      course.insert(source)
      item = source
    }
    return course
  }

  /// The moves that led to a text, first one first; empty if it was never moved. Nil if they are too many.
  ///
  /// - Parameter known: maps before which the moves do not matter
  /// - Complexity: O(m) in the moves, each with O(n) in the text then.
  private func moves(to last: ObjId, after known: Set<ObjId>) -> [Move]? {
    guard let meeting = MeetingDocument(new.document), var item = map(of: last) else { return nil }
    var (moves, text, byteCount): ([Move], ObjId, UInt64) = ([], last, 0)
    while !known.contains(item), let source = meeting.source(of: item) {
      guard source < item, let before = meeting.discussion(of: source) else { return nil }
      byteCount += new.document.length(obj: before) + new.document.length(obj: text)
      guard moves.isEmpty || (moves.count < Self.maximumMoves && byteCount <= Self.maximumBytes),
        let change = new.document.change(thatMade: text), !change.deps.isEmpty,
        self.text(before, at: Set(change.deps)) == self.text(text, at: [change.hash])
      else { return nil }
      moves.append(Move(change: change, from: before, to: text))
      (item, text) = (source, before)
    }
    return moves.reversed()
  }

  /// The item's map that contains a text.
  private func map(of text: ObjId) -> ObjId? { (try? new.document.path(obj: text))?.last?.obj }
}
