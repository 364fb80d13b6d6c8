import TestSupport
import Testing

@testable import Automerge

struct SyncBloomFilterTests {
  private func hashes(_ count: Int, seed: UInt64) -> [ChangeHash] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).compactMap { _ in
      ChangeHash(bytes: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
  }

  @Test func whatIsInItIsFoundAndLittleElse() throws {
    let inside = hashes(1000, seed: 1)
    let filter = BloomFilter(containing: inside)
    #expect(inside.allSatisfy(filter.contains))
    let wrong = hashes(10_000, seed: 2).count(where: filter.contains)
    #expect(wrong < 300)
    #expect(try BloomFilter(decoding: filter.encoded[...]) == filter)
  }

  @Test func theEmptyFilterIsNoBytesAndContainsNothing() throws {
    #expect(BloomFilter().encoded.isEmpty)
    let decoded = try BloomFilter(decoding: [])
    #expect(!hashes(100, seed: 3).contains(where: decoded.contains))
    let explicit = try BloomFilter(decoding: [0, 10, 7])
    #expect(!hashes(100, seed: 3).contains(where: explicit.contains))
  }

  @Test func aFilterOfManyChangesHasFewerBitsForEach() throws {
    let inside = hashes(1000, seed: 5)
    let filter = BloomFilter(containing: inside, byteCount: 500)
    #expect(filter.byteCount == 500 && filter.encoded.count == 504)
    #expect(inside.allSatisfy(filter.contains))
    #expect(hashes(1000, seed: 6).count(where: filter.contains) < 300)
    #expect(try BloomFilter(decoding: filter.encoded[...]) == filter)
    // With no room at all it contains nothing, so the other side sends everything.
    #expect(BloomFilter(containing: inside, byteCount: 100).encoded.isEmpty)
  }

  @Test func ofALongFilterOnlyTheNumberIsKept() throws {
    let inside = hashes(1000, seed: 7)
    let filter = BloomFilter(containing: inside)
    let long = try BloomFilter(decoding: filter.encoded[...], keeping: filter.byteCount - 1)
    #expect(long.entryCount == 1000 && long.byteCount == 0 && long.encoded.isEmpty)
    #expect(!inside.contains(where: long.contains))
    #expect(try BloomFilter(decoding: filter.encoded[...], keeping: filter.byteCount) == filter)
  }

  @Test func parametersAreReadFromTheWire() throws {
    // One entry, 32 bits, 3 probes, all bits set.
    let filter = try BloomFilter(decoding: [1, 32, 3, 0xff, 0xff, 0xff, 0xff])
    #expect(hashes(10, seed: 4).allSatisfy(filter.contains))
    #expect(filter.encoded == [1, 32, 3, 0xff, 0xff, 0xff, 0xff])
  }

  /// The positions follow each other as in the reference, which divides at each step.
  @Test(arguments: [1, 2, 7, 100, 10_000]) func theBitsAreThoseOfTheSpecification(count: Int) throws {
    for hash in hashes(count, seed: UInt64(count)) {
      let filter = BloomFilter(containing: [hash])
      let words = (0..<3).map { word in
        (0..<4).reduce(UInt64(0)) { $0 | UInt64(hash.bytes[4 * word + $1]) << UInt64(8 * $1) }
      }
      let modulo: UInt64 = 16
      var (x, y) = (words[0] % modulo, words[1] % modulo)
      var bits: [UInt8] = [0, 0]
      for _ in 0..<7 {
        bits[Int(x >> 3)] |= 1 << UInt8(x & 7)
        x = (x + y) % modulo
        y = (y + words[2] % modulo) % modulo
      }
      #expect(filter.encoded == [1, 10, 7] + bits)
    }
  }

  @Test(arguments: [
    "010001", "0100 07", "01410700", "010a00 0000", "010a0900 00", "010a2100 00", "010affffffff0f0000", "010a0700",
    "010a07000000", "ffffffffffffffffff01 0a 07 00", "80808080808080807f 40 07", "0a",
  ])
  func filtersThatDoNotAddUpAreRefused(hex: String) throws {
    let bytes = try #require(Hex.bytes(hex))
    #expect(throws: FormatError.self) { try BloomFilter(decoding: bytes[...]) }
  }

  @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)), arguments: Vectors.names(prefix: "sync_"))
  func theFirstFilterOfEachSessionHoldsTheWholeDocument(name: String) throws {
    let vector = try Vectors.load(name)
    let opening = vector.json["transcript"][0]
    let message = try SyncMessage(decoding: try #require(opening["msg"].hex)[...])
    let have = try #require(message.have.first)
    // The document's heads are among its changes; the rest is compared where documents are at hand.
    #expect(message.heads.allSatisfy(have.bloom.contains))
  }
}
