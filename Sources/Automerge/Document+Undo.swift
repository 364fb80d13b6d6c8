import Foundation

/// Undoing what this replica did, and only that; and reverting any change.
///
/// Both make ordinary operations that lead to the document as it would be without the change but with everything else:
/// others' edits stay, even those of what the change made. Restored text and objects are new ones with the same
/// content.
extension Document {
  /// Whether this document's actor made a change that is not undone. False while the document is isolated at earlier
  /// heads.
  public var canUndo: Bool {
    withCore { core in
      core.commitPending()
      core.lookups.undoHistory.update(from: core)
      return core.isolation == nil && !core.lookups.undoHistory.undoable.isEmpty
    }
  }

  /// Whether something was undone and nothing was done since. False while the document is isolated at earlier heads.
  public var canRedo: Bool {
    withCore { core in
      core.commitPending()
      core.lookups.undoHistory.update(from: core)
      return core.isolation == nil && !core.lookups.undoHistory.redoable.isEmpty
    }
  }

  /// Undoes the last change of this document's actor that is not undone yet and that still has a visible effect, by a new change.
  /// Returns that change's patches; none if there is nothing to undo. Throws `DocError.isolated` while the document is isolated.
  /// - Complexity: O(n) in the runs of the lists and texts that the change touched.
  @discardableResult
  public func undo(message: String? = nil, timestamp: Date = Date()) throws -> [Patch] {
    try step(.undo, message, timestamp)
  }

  /// Redoes what was undone last, as long as no other change was made since. Returns the resulting patches.
  /// - Complexity: that of `undo`.
  @discardableResult
  public func redo(message: String? = nil, timestamp: Date = Date()) throws -> [Patch] {
    try step(.redo, message, timestamp)
  }

  private func step(_ direction: UndoHistory.Direction, _ message: String?, _ timestamp: Date) throws -> [Patch] {
    try withCore { core in
      guard core.isolation == nil else { throw DocError.isolated }
      core.commitPending()
      core.lookups.undoHistory.update(from: core)
      let heads = core.graph.heads
      while let row = core.lookups.undoHistory.next(direction) {
        let copies = try core.revert(rows: core.lookups.undoHistory.related(to: [row], in: core))
        if core.commit(message: message, time: seconds(of: timestamp)) {
          core.lookups.undoHistory.didRevert(direction, row, by: core.graph.count - 1, restoring: copies)
          break
        }
      }
      return core.patches(since: heads, encoding: textEncoding)
    }
  }

  /// Reverts several changes of this document's actor by one new change, for callers that decide themselves what is undone at
  /// once, such as a burst of typing. Reverting the returned change redoes them. Text whose line others have deleted since
  /// returns as a line of its own, and not at all if the changes had replaced it there.
  ///
  /// - Parameters:
  ///   - changes: those that this document does not have, and those of other actors, are ignored
  ///   - actors: further actors whose changes may be reverted: those that this person wrote as before
  /// - Returns: the change that reverts them; nil if they no longer have a visible effect
  /// - Throws: `DocError.isolated` while the document is isolated at earlier heads
  /// - Complexity: that of `undo`, once.
  @discardableResult
  public func revert(
    _ changes: [ChangeHash], alsoOf actors: Set<ActorId> = [], message: String? = nil, timestamp: Date = Date()
  ) throws -> ChangeHash? {
    try withCore { core in
      guard core.isolation == nil else { throw DocError.isolated }
      core.commitPending()
      core.lookups.undoHistory.update(from: core)
      let own = Set(actors.union([core.actor]).compactMap { core.actors.find($0) })
      let rows = changes.compactMap { core.row(of: $0) }.filter { own.contains(core.graph.records[$0].actor) }
      guard !rows.isEmpty else { return nil }
      let related = core.lookups.undoHistory.related(to: rows, in: core)
      let copies = try core.revert(rows: related, keepsLinesApart: true)
      guard core.commit(message: message, time: seconds(of: timestamp)) else { return nil }
      core.lookups.undoHistory.didRevert(rows, by: core.graph.count - 1, restoring: copies)
      core.computeHashes()
      return core.graph.hashes[core.graph.count - 1]
    }
  }

  /// Reverts one change of any actor, whatever came after it, by a new change. Returns the resulting patches. Does nothing for a
  /// change that this document does not have. Throws `DocError.isolated` while the document is isolated at earlier heads.
  /// - Complexity: that of `undo`.
  @discardableResult
  public func revert(_ change: ChangeHash, message: String? = nil, timestamp: Date = Date()) throws -> [Patch] {
    try withCore { core in
      guard core.isolation == nil else { throw DocError.isolated }
      core.commitPending()
      guard let row = core.row(of: change) else { return [] }
      let heads = core.graph.heads
      try core.revert(rows: [row])
      core.commit(message: message, time: seconds(of: timestamp))
      return core.patches(since: heads, encoding: textEncoding)
    }
  }
}
