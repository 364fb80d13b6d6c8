import Foundation
import TestSupport
import Testing

@testable import Automerge

struct SyncMessageTests {
  @Test func theWorkedExampleRoundTrips() throws {
    let hex =
      "4201c5b11e48116d7887ecb8226f4f691f22ba965769b863339d79b47b3b8671edc500010006020a07b942b600020284"
    let message = try SyncMessage(decoding: try #require(Hex.bytes(hex))[...])
    #expect(message.version == .v1)
    #expect(message.heads.count == 1)
    #expect(message.flags == .supportsSyncReset)
    #expect(message.have.first?.bloom.contains(message.heads[0]) == true)
    #expect(Hex.text(message.encoded) == hex)
  }

  @Test func everyCutOfAMessageIsAnErrorOrLacksTheTrailer() throws {
    let hex =
      "4201c5b11e48116d7887ecb8226f4f691f22ba965769b863339d79b47b3b8671edc500010006020a07b942b600020284"
    let bytes = try #require(Hex.bytes(hex))
    for count in 0..<bytes.count {
      if count == bytes.count - 3 {
        #expect(try SyncMessage(decoding: bytes.prefix(count)).flags == nil)
      } else {
        #expect(throws: FormatError.self) { try SyncMessage(decoding: bytes.prefix(count)) }
      }
    }
  }

  @Test func trailersOfOldAndFuturePeersAreRead() throws {
    #expect(try SyncMessage(decoding: [0x42, 0, 0, 0, 0]).flags == nil)
    #expect(try SyncMessage(decoding: [0x42, 0, 0, 0, 0, 1, 2]).flags == [])
    #expect(
      try SyncMessage(decoding: [0x43, 0, 0, 0, 0, 3, 2, 0x81, 0x86, 9, 9]).flags == [
        .syncReset, .readOnly, .supportsSyncReset,
      ])
    #expect(try SyncMessage(decoding: [0x43, 0, 0, 0, 0, 2, 0x55, 1]).flags == [])
  }

  @Test(arguments: [
    "41000000 00", "44000000 00", "", "42",
    // The filter of one entry and no bits that stops the reference implementation.
    "42 00 00 01 00 03 01 00 01 00",
    // 2^32 - 1 probes.
    "42 00 00 01 00 09 01 0a ff ff ff ff 0f 00 00 00",
    "42 00 ffffffff0f", "42 ffffffffffffffffff01", "42 00 00 ffffffff0f 0000", "42 00 00 00 ffffffff0f",
    "42 00 00 00 00 05 02",
  ])
  func hostileMessagesAreRefused(hex: String) throws {
    let bytes = try #require(Hex.bytes(hex))
    #expect(throws: FormatError.self) { try SyncMessage(decoding: bytes[...]) }
  }

  @Test func moreHashesThanAnyDocumentHasAreRefused() throws {
    var writer = ByteWriter()
    writer.byte(0x42)
    writer.uleb(0)
    writer.uleb(1_000_000)
    writer.raw([UInt8](repeating: 7, count: 32_000_000))
    #expect(throws: FormatError.tooMany(limit: SyncMessage.Limit.need, at: 2)) {
      try SyncMessage(decoding: writer.bytes[...])
    }
  }

  /// Each change of a document is looked up in all filters of a message, so 248 bytes could cost a third of a second.
  @Test func moreFiltersAndProbesThanAnyProgramSendsAreRefused() throws {
    func message(filters: Int, probes: UInt8) -> [UInt8] {
      let filter: [UInt8] = [8, 8, probes] + Array(repeating: 0xff, count: 7) + [0x7f]
      let have: [UInt8] = [0, UInt8(filter.count)] + filter
      return [0x42, 0, 0, UInt8(filters)] + (0..<filters).flatMap { _ in have } + [0]
    }
    #expect(try SyncMessage(decoding: message(filters: 1, probes: 7)[...]).have.count == 1)
    #expect(try SyncMessage(decoding: message(filters: 2, probes: 8)[...]).have.count == 2)
    #expect(throws: FormatError.tooMany(limit: 2, at: 3)) {
      try SyncMessage(decoding: message(filters: 3, probes: 7)[...])
    }
    #expect(throws: FormatError.self) { try SyncMessage(decoding: message(filters: 1, probes: 9)[...]) }
  }

  @Test func atMostTwoMebibytesOfFiltersAreKept() throws {
    func message(_ byteCounts: [Int]) -> [UInt8] {
      var writer = ByteWriter()
      writer.raw([0x42, 0, 0])
      writer.uleb(byteCounts.count)
      for byteCount in byteCounts {
        var filter = ByteWriter()
        for parameter in [byteCount, 8, 7] { filter.uleb(parameter) }
        filter.raw([UInt8](repeating: 0xff, count: byteCount))
        writer.hashes([])
        writer.lengthPrefixed(filter.bytes)
      }
      writer.uleb(0)
      return writer.bytes
    }
    func kept(_ byteCounts: [Int]) throws -> [Int] {
      try SyncMessage(decoding: message(byteCounts)[...]).have.map(\.bloom.byteCount)
    }
    let most = BloomFilter.maximumByteCount
    #expect(try kept([most]) == [most])
    #expect(try kept([most + 1]) == [0])
    #expect(try kept([most - 10, 11]) == [most - 10, 0])
    #expect(try kept([30 << 20, 10]) == [0, 10])
  }

  @Test func emptyChunksTakeNoRoom() throws {
    var writer = ByteWriter()
    writer.raw([0x42, 0, 0, 0])
    writer.uleb(100_000)
    writer.raw([UInt8](repeating: 0, count: 100_000))
    #expect(try SyncMessage(decoding: writer.bytes[...]).changes.isEmpty)
  }

  @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)), arguments: Vectors.names(prefix: "sync_"))
  func everyMessageOfTheTranscriptsRoundTrips(name: String) throws {
    let vector = try Vectors.load(name)
    for entry in vector.json["transcript"].items {
      guard let bytes = entry["msg"].hex else { continue }
      let message = try SyncMessage(decoding: bytes[...])
      let decoded = entry["decoded"]
      #expect(message.encoded == bytes)
      #expect(message.heads.map(\.description) == decoded["heads"].strings)
      #expect(message.need.map(\.description) == decoded["need"].strings)
      #expect(message.version == (decoded["version"].int == 1 ? .v1 : .v2))
      #expect(message.changes.map { Hex.text($0) } == decoded["changes"].strings)
      #expect(
        message.have.map { Hex.text($0.bloom.encoded) } == decoded["have"].items.compactMap { $0["bloom"].string })
      #expect(message.flags?.contains(.readOnly) == decoded["flags"]["read_only"].bool)
      #expect(message.flags?.contains(.syncReset) == decoded["flags"]["sync_reset"].bool)
    }
  }

  @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)), arguments: Vectors.names(prefix: "sync_"))
  func damagedMessagesNeverTrap(name: String) throws {
    var random = SeededGenerator(seed: 5)
    for entry in try Vectors.load(name).json["transcript"].items {
      guard let bytes = entry["msg"].hex else { continue }
      for _ in 0..<100 {
        var damaged = bytes
        for _ in 0..<3 {
          damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        _ = try? SyncMessage(decoding: damaged[...])
      }
    }
  }

  @Test func persistedStatesRoundTrip() throws {
    let state = try SyncState(bytes: Data([0x43, 0]))
    #expect(state.encode() == Data([0x43, 0]))
    #expect(state.theirHeads == nil)
    for bad in [[], [0x42, 0], [0x43], [0x43, 1], [0x43, 0, 0]] as [[UInt8]] {
      #expect(throws: DecodeSyncStateError.self) { try SyncState(bytes: Data(bad)) }
    }
  }
}
