import Foundation

/// A place with several values that were put there concurrently.
public struct Conflict: Hashable, Sendable {
  /// One of the values, and its author.
  public struct Candidate: Hashable, Sendable {
    /// A counter includes its increments.
    public let value: Value
    public let actor: ActorId
    /// The change that put the value there.
    public let change: ChangeHash
    /// When the change was made, by the author's clock, in whole seconds.
    public let timestamp: Date
  }

  public let path: [AnyCodingKey]
  /// All values at the place; the last one is the one that is read.
  public let candidates: [Candidate]
  /// The value that is read there.
  public let winner: Value

  /// All the values, the winner included.
  public var values: Set<Value> { Set(candidates.map(\.value)) }
}

extension Document {
  /// The places in maps and lists where values were put concurrently, outer ones first, with the authors of the values.
  /// Does not look into objects that lost, nor deeper than `valueDepthLimit`.
  /// - Complexity: O(n log n) in what the document holds.
  public func conflicts() throws -> [Conflict] {
    withCore { core in
      core.commitPending()
      core.computeHashes()
      core.lookups.changeLookup.update(from: core.graph)
      return core.conflicts()
    }
  }
}

extension DocumentCore {
  /// No transaction may be pending; the changes must have hashes and be in the change lookup.
  fileprivate func conflicts() -> [Conflict] {
    var conflicts: [Conflict] = []
    var open: [(object: OpId, path: [AnyCodingKey])] = [(.zero, [])]
    var next = 0
    while next < open.count {
      let (object, path) = open[next]
      next += 1
      forEachPlace(of: object) { key, slot in
        let visible = slot.visible(at: view)
        guard let winner = visible.last else { return }
        let path = path + [key]
        if visible.count > 1 {
          conflicts.append(
            Conflict(
              path: path, candidates: visible.compactMap { candidate($0, in: slot) },
              winner: value(of: winner, in: slot, at: view)))
        }
        if winner.action.makesObject, store.type(of: winner.id) != .makeText, path.count <= Document.valueDepthLimit {
          open.append((winner.id, path))
        }
      }
    }
    return conflicts
  }

  private func candidate(_ op: StoredOp, in slot: Slot) -> Conflict.Candidate? {
    guard let row = lookups.changeLookup.row(of: op.id) else { return nil }
    return Conflict.Candidate(
      value: value(of: op, in: slot, at: view), actor: actors[op.id.actor], change: graph.hashes[row],
      timestamp: Date(timeIntervalSince1970: Double(graph.records[row].time)))
  }

  /// The keys of a map in their order, or the elements of a list that are more than one plain scalar.
  private func forEachPlace(of object: OpId, _ body: (AnyCodingKey, Slot) -> Void) {
    switch store[object] {
    case .map(let map)?: for (key, slot) in map.sortedSlots { body(AnyCodingKey(key.string), slot) }
    case .sequence(let tree)?:
      var index: UInt64 = 0
      tree.forEachStretch(at: view) { stretch in
        switch stretch {
        case .plain(_, let count, _): index += UInt64(count)
        case .irregular(let slot, _):
          body(AnyCodingKey(index), slot)
          index += 1
        case .mark: break
        }
        return true
      }
    case nil: break
    }
  }
}
