import TestSupport
import Testing

@testable import Automerge

struct RadixOrderTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func keysAreOrderedAsSortingOrdersThem(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bits = UInt64.random(in: 1...63, using: &random), shift = UInt64.random(in: 0...(63 - bits), using: &random)
    let keys = (0..<Int.random(in: 0...700, using: &random)).map { _ in
      UInt64.random(in: 0..<(1 << bits), using: &random) << shift
    }
    let sorted = keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
    #expect(RadixOrder.order(of: keys).map { Int($0) } == sorted, "seed \(seed)")
    var elements = keys.enumerated().map { (place: $0, key: $1) }
    RadixOrder.sort(&elements) { $0.key }
    #expect(elements.map(\.place) == sorted, "seed \(seed)")
  }
}
