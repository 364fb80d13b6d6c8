/// The actors that changed the document.
extension Document {
  /// The last change that an actor made; nil if it has made none.
  public func lastChange(by actor: ActorId) -> ChangeHash? {
    withCore { core in
      core.commitPending()
      guard let index = core.actors.find(actor), let row = core.graph.lastRow(of: index) else { return nil }
      core.computeHashes()
      return core.graph.hashes[Int(row)]
    }
  }

  /// How many changes of an actor the document has: they are numbered from 1.
  /// - Complexity: O(log n) in the actors
  public func changeCount(by actor: ActorId) -> Int {
    withCore { core in
      core.commitPending()
      return core.actors.find(actor).map { Int(core.graph.changeCount(of: $0)) } ?? 0
    }
  }

  /// The author of a change, and its number among the author's changes, from 1; nil if this document does not have the
  /// change.
  public func authorship(of change: ChangeHash) -> (actor: ActorId, number: Int)? {
    withCore { core in
      core.commitPending()
      guard let row = core.row(of: change) else { return nil }
      let record = core.graph.records[row]
      return (core.actors[record.actor], Int(record.seq))
    }
  }

  /// An actor's changes with these numbers, as far as this document has them.
  /// - Complexity: O(n) in the changes that the document has since the first of them.
  public func changes(by actor: ActorId, _ numbers: ClosedRange<Int>) -> [ChangeHash] {
    withCore { core in
      core.commitPending()
      guard let index = core.actors.find(actor), let last = core.graph.lastRow(of: index) else { return [] }
      core.computeHashes()
      var found: [ChangeHash] = [], row = Int(last)
      while row >= 0 {
        let record = core.graph.records[row]
        if record.actor == index {
          if Int(record.seq) < numbers.lowerBound { break }
          if numbers.contains(Int(record.seq)) { found.append(core.graph.hashes[row]) }
          if Int(record.seq) == numbers.lowerBound { break }
        }
        row -= 1
      }
      return found.reversed()
    }
  }
}
