/// Sorts many keys quickly: digit by digit, the least significant one first, skipping digits that are equal in all
/// keys.
enum RadixOrder {
  private static let digitBits: UInt64 = 11

  /// The indices of the keys in ascending order of the keys; equal keys stay in order.
  /// - Complexity: O(n) for each eleven bits in which the keys differ.
  static func order(of keys: [UInt64]) -> [UInt32] {
    var order = keys.indices.map { UInt32($0) }
    guard let first = keys.first else { return order }
    guard keys.count > 64 else {
      order.sort { (keys[Int($0)], $0) < (keys[Int($1)], $1) }
      return order
    }
    let differing = keys.reduce(0) { $0 | ($1 ^ first) }, mask: UInt64 = 1 << digitBits - 1
    var next = order
    for shift in stride(from: UInt64(0), to: 64, by: Int(digitBits)) where differing >> shift & mask != 0 {
      var starts = Array(repeating: 0, count: 1 << Int(digitBits))
      for key in keys { starts[Int(key >> shift & mask)] += 1 }
      var sum = 0
      for digit in starts.indices { (starts[digit], sum) = (sum, sum + starts[digit]) }
      for place in order {
        let digit = Int(keys[Int(place)] >> shift & mask)
        next[starts[digit]] = place
        starts[digit] += 1
      }
      swap(&order, &next)
    }
    return order
  }

  /// Sorts elements by their keys in place; those with equal keys stay in order.
  /// - Complexity: as `order`; needs 16 bytes for each element meanwhile
  static func sort<Element>(_ elements: inout [Element], by key: (Element) -> UInt64) {
    var order = order(of: elements.map(key))
    // Each place gets its element along a cycle; the places that have theirs refer to themselves.
    for start in order.indices where Int(order[start]) != start {
      let first = elements[start]
      var place = start
      while Int(order[place]) != start {
        let source = Int(order[place])
        elements[place] = elements[source]
        order[place] = UInt32(place)
        place = source
      }
      elements[place] = first
      order[place] = UInt32(place)
    }
  }
}

extension OpId {
  /// Orders by the actor's index, then by the counter.
  var sortKey: UInt64 { UInt64(actor) << 32 | UInt64(counter) }
}
