/// The difference between two states of a document, as patches.
extension Document {
  /// The patches that lead from one state to another, forward or backward in history. Unknown heads are ignored; no
  /// heads mean the empty document.
  ///
  /// The patches are grouped by object, older objects first; in a map they are ordered by key, in a list or text from
  /// front to back. A new object is inserted empty, and its own patches fill it.
  /// - Complexity: O(n) in the runs of operations of the changes between the states, and in the runs of the lists and
  ///   texts that these touch; near the present state only in the former.
  public func difference(from before: Set<ChangeHash>, to after: Set<ChangeHash>) -> [Patch] {
    withCore { core in
      core.commitPending()
      let old = before.compactMap { core.row(of: $0) }, new = after.compactMap { core.row(of: $0) }
      return core.patches(from: old, to: new, encoding: textEncoding)
    }
  }

  /// The patches of one object that lead from one state to another.
  /// - Parameter recursive: includes the objects inside it.
  /// - Complexity: that of `difference(from:to:)`, without the cost of other objects.
  public func difference(
    obj: ObjId, from before: Set<ChangeHash>, to after: Set<ChangeHash>, recursive: Bool = true
  ) throws -> [Patch] {
    try withCore { core in
      core.commitPending()
      guard let object = core.opId(obj) else { throw DocError.unknownObject(obj) }
      let old = before.compactMap { core.row(of: $0) }, new = after.compactMap { core.row(of: $0) }
      var difference = DocumentDifference(core, from: old, to: new, encoding: textEncoding)
      return difference.patches(of: object, isRecursive: recursive)
    }
  }

  /// The patches that lead from a past state to the present one.
  public func difference(since lastSynced: Set<ChangeHash>) -> [Patch] {
    withCore { core in
      core.commitPending()
      let old = lastSynced.compactMap { core.row(of: $0) }
      return core.patches(from: old, to: core.graph.heads.map(Int.init), encoding: textEncoding)
    }
  }

  /// The patches that lead back from the present state to a past one.
  public func difference(to previous: Set<ChangeHash>) -> [Patch] {
    withCore { core in
      core.commitPending()
      let new = previous.compactMap { core.row(of: $0) }
      return core.patches(from: core.graph.heads.map(Int.init), to: new, encoding: textEncoding)
    }
  }
}
