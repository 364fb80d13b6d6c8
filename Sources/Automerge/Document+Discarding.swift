/// Removing changes as if they had never been made.
extension Document {
  /// The heads that the document would have without these changes and their descendants. Hashes that are not changes of
  /// this document are ignored.
  /// - Complexity: O(n) in the history
  public func heads(without hashes: Set<ChangeHash>) -> Set<ChangeHash> {
    withCore { core in
      core.commitPending()
      let isKept = core.rowsKept(without: hashes)
      var heads: Set<Int> = []
      for row in isKept.indices where isKept[row] {
        heads.insert(row)
        for dep in core.graph.deps(of: row) { heads.remove(Int(dep)) }
      }
      return Set(heads.map { core.graph.hashes[$0] })
    }
  }

  /// The given changes that this document has, and their descendants: what `discard` removes.
  /// - Complexity: O(n) in the history
  public func changesOnTop(of hashes: Set<ChangeHash>) -> Set<ChangeHash> {
    withCore { core in
      core.commitPending()
      let isKept = core.rowsKept(without: hashes)
      return Set(isKept.indices.filter { !isKept[$0] }.map { core.graph.hashes[$0] })
    }
  }

  /// Removes changes, and their descendants, from this copy of the document. Other copies keep them, and merging such a
  /// copy brings them back. The remaining objects keep their ids.
  ///
  /// - Parameter actor: the actor that writes from now on. It must be new, because the numbers of the removed changes
  ///   must not be used again.
  /// - Returns: the removed changes
  /// - Complexity: O(n) in the history; O(1) if nothing is removed
  @discardableResult
  public func discard(_ hashes: Set<ChangeHash>, goingOnAs actor: ActorId) throws -> Set<ChangeHash> {
    try withState { state in
      let core = state.core
      core.commitPending()
      let isKept = core.rowsKept(without: hashes)
      let removed = Set(isKept.indices.filter { !isKept[$0] }.map { core.graph.hashes[$0] })
      guard !removed.isEmpty else { return [] }
      let kept = try isKept.indices.filter { isKept[$0] }.map { try core.decodedChange(ofRow: $0) }
      let waiting = core.queue.all.filter { removed.isDisjoint(with: $0.header.deps) }
      let fresh = DocumentCore(actor: actor)
      var edits: TextEditCollector?
      try fresh.receive(kept + waiting, edits: &edits)
      state.core = fresh
      state.removalCount += 1
      return removed
    }
  }
}

extension DocumentCore {
  /// For each change, whether it is kept: whether it is neither one of these nor a descendant of one.
  fileprivate func rowsKept(without hashes: Set<ChangeHash>) -> [Bool] {
    computeHashes()
    let removed = Set(hashes.compactMap { row(of: $0) })
    var isKept = [Bool](repeating: true, count: graph.count)
    guard !removed.isEmpty else { return isKept }
    for row in 0..<graph.count {
      isKept[row] = !removed.contains(row) && graph.deps(of: row).allSatisfy { isKept[Int($0)] }
    }
    return isKept
  }
}
