/// The size of a document.
public struct DocumentStats: Hashable, Sendable {
  public let changeCount: Int
  /// Operations. Typing or deleting one character is one.
  public let opCount: Int
  /// Actors that have made changes.
  public let actorCount: Int
  /// Maps, lists and texts that were ever made, the root included.
  public let objectCount: Int
  /// Changes that wait for their dependencies.
  public let waitingChangeCount: Int
}

extension Document {
  /// The size of the document.
  /// - Complexity: O(n) in the actors.
  public func stats() -> DocumentStats {
    withCore { core in
      core.commitPending()
      let actors = (0..<core.actors.count).count { core.graph.lastRow(of: UInt32($0)) != nil }
      return DocumentStats(
        changeCount: core.graph.count, opCount: core.graph.records.opCount, actorCount: actors,
        objectCount: core.store.objects.count, waitingChangeCount: core.queue.count)
    }
  }
}
