/// The visible operations of a slot, ascending by their ids.
///
/// Of many, those that are no longer visible stay in the list until they are half of it, so that removing one does not move the
/// others.
struct PresentOps {
  private var listed: [OpId]
  private var gone: Set<OpId> = []

  private static let fewCount = 32

  init(_ ids: [OpId] = []) { listed = ids }

  var isEmpty: Bool { listed.isEmpty }
  var count: Int { listed.count - gone.count }
  /// The last one is never gone.
  var last: OpId? { listed.last }
  var ids: [OpId] { gone.isEmpty ? listed : listed.filter { !gone.contains($0) } }

  mutating func insert(_ id: OpId, _ actors: ActorTable) {
    listed.insert(id, at: listed.place(for: id, \.self, actors))
  }

  mutating func remove(_ id: OpId, _ actors: ActorTable) {
    guard let index = listed.index(of: id, \.self) else { return }
    if listed.count <= Self.fewCount, gone.isEmpty {
      listed.remove(at: index)
    } else {
      gone.insert(id)
      if 2 * gone.count > listed.count { (listed, gone) = (ids, []) }
    }
    while let last = listed.last, gone.remove(last) != nil { listed.removeLast() }
  }
}

/// Lists that ascend by ids, whose order is that of their counters and then of their actors.
extension Array {
  /// - Complexity: O(log n)
  @inline(__always)
  func index(of id: OpId, _ name: (Element) -> OpId) -> Int? {
    if let last, name(last) == id { return count - 1 }
    var place = place(of: id.counter, name)
    // Several actors may have reached the same counter.
    while place < count, name(self[place]).counter == id.counter {
      if name(self[place]) == id { return place }
      place += 1
    }
    return nil
  }

  /// Where an id belongs.
  /// - Complexity: O(log n)
  @inline(__always)
  func place(for id: OpId, _ name: (Element) -> OpId, _ actors: ActorTable) -> Int {
    var place = place(of: id.counter, name)
    while place < count, actors.precedes(name(self[place]), id) { place += 1 }
    return place
  }

  /// The index of the first id with this counter or a greater one.
  @inline(__always)
  private func place(of counter: UInt32, _ name: (Element) -> OpId) -> Int {
    guard let last, name(last).counter >= counter else { return count }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if name(self[middle]).counter < counter { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
