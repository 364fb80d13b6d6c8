/// Going on as if some changes had never come.
extension Document {
  /// The heads that the document would have without some changes and everything that was made on top of them. Hashes that are
  /// not changes of this document count for nothing.
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

  /// Those of some changes that this document has, and everything that was made on top of them: what `discard` removes.
  /// - Complexity: O(n) in the history
  public func changesOnTop(of hashes: Set<ChangeHash>) -> Set<ChangeHash> {
    withCore { core in
      core.commitPending()
      let isKept = core.rowsKept(without: hashes)
      return Set(isKept.indices.filter { !isKept[$0] }.map { core.graph.hashes[$0] })
    }
  }

  /// Removes changes, and everything that was made on top of them, from this copy of the document. Other copies keep them, and
  /// bring them again when they are merged. Objects that are left keep their ids.
  ///
  /// - Parameter actor: the actor that writes from now on. It must be new: the numbers of the changes that are gone are not free for others.
  /// - Returns: the changes that are gone
  /// - Complexity: O(n) in the history, unless nothing is removed
  @discardableResult
  public func discard(_ hashes: Set<ChangeHash>, goingOnAs actor: ActorId) throws -> Set<ChangeHash> {
    try replacingCore { core in
      core.commitPending()
      let isKept = core.rowsKept(without: hashes)
      let removed = Set(isKept.indices.filter { !isKept[$0] }.map { core.graph.hashes[$0] })
      guard !removed.isEmpty else { return [] }
      let kept = try isKept.indices.filter { isKept[$0] }.map { try core.decodedChange(ofRow: $0) }
      let waiting = core.queue.waiting.filter { removed.isDisjoint(with: $0.header.deps) }
      let fresh = DocumentCore(actor: actor)
      var edits: TextEditCollector?
      try fresh.receive(kept + waiting, edits: &edits)
      core = fresh
      return removed
    }
  }
}

extension DocumentCore {
  /// For each change whether it is neither one of these nor made on top of one.
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
