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

/// `make test` is brief, because a newcomer waits for it: it leaves out tests that take long.
public enum TestRun {
  public static let isBrief = ProcessInfo.processInfo.environment["NOTES_BRIEF"] != nil
}

/// How many seeds a random test tries.
public enum SeedCount {
  /// `usual`, or as many as `NOTES_SEED_COUNT` says; a third if the run is brief.
  public static func of(_ usual: Int) -> Int {
    ProcessInfo.processInfo.environment["NOTES_SEED_COUNT"].flatMap { Int($0) }.map { max($0, 1) } ?? count(usual)
  }

  /// These seeds; the first third of them if the run is brief.
  public static func part<Seeds: Collection>(of seeds: Seeds) -> Seeds.SubSequence { seeds.prefix(count(seeds.count)) }

  private static func count(_ usual: Int) -> Int { TestRun.isBrief ? (usual + 2) / 3 : usual }
}
