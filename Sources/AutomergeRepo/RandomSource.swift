/// An injected source of randomness: the system's in a program, a seeded one in tests.
public struct RandomSource: RandomNumberGenerator, Sendable {
  private var base: any RandomNumberGenerator & Sendable

  public init(_ base: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) { self.base = base }

  public mutating func next() -> UInt64 { base.next() }

  /// This many random bytes.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
  }
}
