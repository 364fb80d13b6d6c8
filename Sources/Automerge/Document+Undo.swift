import Foundation

/// Undoing what this replica did, and only that; and reverting any change.
///
/// Both make ordinary operations that lead to what the document would be if the change had never been made and
/// everything else had: others' edits stay, also those to what the change made. Text and objects that come back are
/// new ones, with the same content.
extension Document {
  /// Whether this document's actor made a change that is not undone. False while an earlier state is worked on.
  public var canUndo: Bool {
    withCore { core in
      core.commitPending()
      core.lookups.undoHistory.update(from: core)
      return core.isolation == nil && !core.lookups.undoHistory.undoable.isEmpty
    }
  }

  /// Whether something was undone and nothing was done since. False while an earlier state is worked on.
  public var canRedo: Bool {
    withCore { core in
      core.commitPending()
      core.lookups.undoHistory.update(from: core)
      return core.isolation == nil && !core.lookups.undoHistory.redoable.isEmpty
    }
  }

  /// Undoes the last change of this document's actor that is not undone yet and that still shows, in a change of its
  /// own. Returns what that did; nothing if there is nothing to undo. Throws `DocError.isolated` while an earlier state
  /// is worked on.
  /// - Complexity: O(n) in the runs of the lists and texts that the change touched.
  @discardableResult
  public func undo(message: String? = nil, timestamp: Date = Date()) throws -> [Patch] {
    try step(.undo, message, timestamp)
  }

  /// Does again what was undone last, as long as no other change was made since. Returns what that did.
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

  /// Reverts several changes of this document's actor, in one change of its own; for callers that keep account of what can
  /// be undone themselves, for instance by bursts of typing. Reverting the change that is returned does them again.
  ///
  /// - Parameters:
  ///   - changes: those that this document does not have, or that are another actor's, are passed over.
  ///   - actors: whose changes may be reverted besides this document's actor's: those that one person wrote as before.
  /// - Returns: the change that reverts them; nil if nothing of them shows any more.
  /// - Throws: `DocError.isolated` while an earlier state is worked on.
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
      let copies = try core.revert(rows: core.lookups.undoHistory.related(to: rows, in: core))
      guard core.commit(message: message, time: seconds(of: timestamp)) else { return nil }
      core.lookups.undoHistory.didRevert(rows, by: core.graph.count - 1, restoring: copies)
      core.computeHashes()
      return core.graph.hashes[core.graph.count - 1]
    }
  }

  /// Reverts one change of any actor, whatever came after it, in a change of its own. Returns what that did. Does nothing for a
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
