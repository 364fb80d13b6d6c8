import AutomergeRepo
import Foundation
import TestSupport
import Testing

@testable import PostgresStorage

struct KeyTextTests {
  @Test(arguments: 0..<200 as Range<UInt64>)
  func anyKeyIsReadAsItWasWritten(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let letters: [String] = ["a", "/", "%", "\u{0}", "é", "e\u{301}", "😀", "0", "2f", "\u{10FFFF}", ""]
    let key = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      (0..<Int.random(in: 0...4, using: &random)).map { _ in letters.randomElement(using: &random) ?? "" }.joined()
    }
    let text = try PostgresSchema.text(of: key)
    #expect(!text.utf8.contains(0))
    let read = try #require(StorageKeyText.decode(text))
    #expect(read.map { Array($0.utf8) } == key.map { Array($0.utf8) }, "seed \(seed)")
  }

  @Test(arguments: ["", "a", "a/%", "a/%4", "a/%zz/", "a/%ff/"])
  func whatIsNoKeyIsNotRead(text: String) { #expect(StorageKeyText.decode(text) == nil) }

  @Test func onlyAChunkHasAChunksName() {
    let hash = String(repeating: "0a", count: 32)
    let name = ChunkName(["doc", "snapshot", hash])
    #expect(name?.sha256 == Data(repeating: 10, count: 32))
    #expect(ChunkName(["a/b", "incremental", hash])?.document == "a%2fb")
    for key in [
      ["doc", "discarded", hash], ["doc", "snapshot", hash, "x"], ["doc", "snapshot", hash.uppercased()],
      ["doc", "snapshot", String(hash.dropLast())], ["snapshot", hash], [],
    ] { #expect(ChunkName(key) == nil, "\(key)") }
  }

  @Test func aLongKeyIsRefused() {
    #expect(throws: StorageError.self) { try PostgresSchema.text(of: [String(repeating: "n", count: 3000)]) }
    #expect(throws: StorageError.invalidKey([])) { try PostgresSchema.text(of: []) }
  }

  @Test func aValueIsStoredInPartsWithNothingLeftOut() {
    for count in [0, 1, PostgresSchema.partByteCount, PostgresSchema.partByteCount + 1, 1_000_000] {
      let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
      let parts = WriteBatch.parts(of: data)
      #expect(parts.reduce(into: Data()) { $0 += $1 } == data)
      #expect(!parts.isEmpty && parts.allSatisfy { $0.count <= PostgresSchema.partByteCount })
    }
  }
}
