/// How long something took each time, counted in classes as monitoring programs expect them.
public struct LatencyHistogram: Hashable, Sendable {
  /// From half a millisecond to ten seconds, the times that a disk or a busy loop may need.
  public static let standardBounds: [Duration] = [
    .microseconds(500), .milliseconds(1), .microseconds(2500), .milliseconds(5), .milliseconds(10), .milliseconds(25),
    .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .milliseconds(2500),
    .seconds(10),
  ]

  /// The longest time of each class except the last, which has no bound; ascending.
  public let bounds: [Duration]
  /// How many times fell into each class; one more class than there are bounds.
  public private(set) var counts: [Int]
  /// The sum of all times.
  public private(set) var sum: Duration = .zero

  public init(bounds: [Duration] = standardBounds) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  /// How many times were recorded.
  public var count: Int { counts.reduce(0, +) }

  /// - Complexity: O(n) in the classes
  public mutating func note(_ time: Duration) {
    counts[bounds.firstIndex { time <= $0 } ?? bounds.count] += 1
    sum += time
  }
}
