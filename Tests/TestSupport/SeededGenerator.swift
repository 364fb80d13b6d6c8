import Foundation

/// Random numbers that a seed repeats: SplitMix64. Name the seed in every expectation that may fail.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  public let seed: UInt64
  private var state: UInt64

  public init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// How many seeds a random test tries.
public enum SeedCount {
  /// As many as `make test` has time for, or as `NOTES_SEED_COUNT` says.
  public static func of(_ usual: Int) -> Int {
    ProcessInfo.processInfo.environment["NOTES_SEED_COUNT"].flatMap { Int($0) }.map { max($0, 1) } ?? usual
  }
}
