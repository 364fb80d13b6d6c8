/// Finds operations of a slot by their ids, again and again. Their order does not help, because only a document knows it:
/// thousands of actors may have reached the same counter.
struct OpFinder {
  private let ops: [StoredOp]
  /// Where each is among many; made at the first search.
  private var places: [OpId: Int] = [:]

  private static let fewCount = 8

  init(_ ops: [StoredOp]) { self.ops = ops }

  /// - Complexity: O(1), but O(n) in the operations at the first call
  mutating func find(_ id: OpId) -> StoredOp? {
    guard ops.count > Self.fewCount else { return ops.first { $0.id == id } }
    if places.isEmpty {
      places.reserveCapacity(ops.count)
      for (place, op) in ops.enumerated() { places[op.id] = place }
    }
    return places[id].map { ops[$0] }
  }
}
