import Foundation
import HostileShapes
import TestSupport
import Testing

/// Messages, names, meetings and presence that no test spells out: a short run of what `make fuzz` does at length.
struct HostileShapesTests {
  private static let seeds = 0..<UInt64(SeedCount.of(4))
  private static let corpus = Vectors.packageRoot.appending(path: "Tests/Fuzz/Corpus")

  private static func inputs(_ name: String) throws -> [[UInt8]] {
    let folder = corpus.appending(path: name)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    return try files.map { Array(try Data(contentsOf: folder.appending(path: $0))) }
  }

  /// Bytes changed, taken out, put in, or taken from another input.
  private func mutated(_ input: [UInt8], with other: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = input
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      guard bytes.count > 1 else { return other }
      let place = Int.random(in: 1..<bytes.count, using: &random)
      let end = min(bytes.count, place + Int.random(in: 1...4, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: bytes[place] = [0, 1, 0x40, 0x7f, 0x80, 0x9f, 0xff].randomElement(using: &random) ?? 0
      case 2: bytes[place] = bytes[place] &+ (Bool.random(using: &random) ? 1 : 0xff)
      case 3: bytes.removeSubrange(place..<end)
      case 4: bytes.insert(contentsOf: bytes[place..<end], at: place)
      default: bytes.insert(contentsOf: other.shuffled(using: &random).prefix(3), at: place)
      }
    }
    return bytes
  }

  private func check(
    _ name: String, seed: UInt64, count: Int, _ holds: ([UInt8]) throws -> Void
  ) throws {
    var random = SeededGenerator(seed: seed)
    let inputs = try Self.inputs(name)
    for input in inputs { #expect(throws: Never.self, "\(name)") { try holds(input) } }
    for _ in 0..<count {
      guard let input = inputs.randomElement(using: &random), let other = inputs.randomElement(using: &random) else {
        return
      }
      let bytes = mutated(input, with: other, &random)
      #expect(throws: Never.self, "seed \(seed), \(name): \(bytes)") { try holds(bytes) }
    }
  }

  /// Steps of a state machine, at random.
  private func steps(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  @Test(arguments: seeds) func messagesSayTheSameWhenTheyAreWrittenAgain(seed: UInt64) throws {
    try check("Messages", seed: seed, count: 2000) { try MessageShapes.check($0) }
  }

  @Test(arguments: seeds) func wordsOfOthersAreShortAndHarmless(seed: UInt64) throws {
    try check("Words", seed: seed, count: 2000) { try WordShapes.check($0) }
  }

  @Test(arguments: FormatShapes.allCases) func whatAFormatReadsItWritesAgain(format: FormatShapes) throws {
    for seed in Self.seeds { try check(format.rawValue, seed: seed, count: 300) { try format.check($0) } }
  }

  @Test(arguments: seeds) func noMeetingGrantsWhatWasNotAgreed(seed: UInt64) throws {
    try check("Meeting", seed: seed, count: 50) { try MeetingShapes.check($0) }
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let bytes = steps(400, &random)
      #expect(throws: Never.self, "seed \(seed): \(bytes)") { try MeetingShapes.check(bytes) }
    }
  }

  @Test(arguments: seeds) func noPeerSilencesAnotherLink(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let bytes = steps(600, &random)
      #expect(throws: Never.self, "seed \(seed): \(bytes)") { try PresenceShapes.check(bytes) }
    }
  }

  @Test(arguments: seeds) func noCallerTakesAnothersPlaceAndNoPingsPileUp(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      let bytes = steps(1000, &random)
      #expect(throws: Never.self, "seed \(seed): \(bytes)") { try LinkShapes.check(bytes) }
    }
  }
}
