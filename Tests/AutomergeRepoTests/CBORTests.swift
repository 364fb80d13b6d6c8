import Foundation
import TestSupport
import Testing

@testable import AutomergeRepo

struct CBORTests {
  /// RFC 8949, appendix A. Tags are dropped on reading.
  private static let vectors: [(hex: String, value: CBOR)] = [
    ("00", 0), ("01", 1), ("0a", 10), ("17", 23), ("1818", 24), ("1819", 25), ("1864", 100), ("1903e8", 1000),
    ("1a000f4240", 1_000_000), ("1b000000e8d4a51000", 1_000_000_000_000), ("1bffffffffffffffff", .unsigned(.max)),
    ("c249010000000000000000", .bytes(Data([1, 0, 0, 0, 0, 0, 0, 0, 0]))), ("3bffffffffffffffff", .negative(.max)),
    ("20", -1), ("29", -10), ("3863", -100), ("3903e7", -1000),
    ("f90000", .float(0)), ("f98000", .float(-0.0)), ("f93c00", .float(1)), ("fb3ff199999999999a", .float(1.1)),
    ("f93e00", .float(1.5)), ("f97bff", .float(65504)), ("fa47c35000", .float(100_000)),
    ("fa7f7fffff", .float(3.4028234663852886e+38)), ("fb7e37e43c8800759c", .float(1.0e+300)),
    ("f90001", .float(5.960464477539063e-8)), ("f90400", .float(0.00006103515625)), ("f9c400", .float(-4)),
    ("fbc010666666666666", .float(-4.1)), ("f97c00", .float(.infinity)), ("f9fc00", .float(-.infinity)),
    ("fa7f800000", .float(.infinity)), ("fb7ff0000000000000", .float(.infinity)),
    ("f4", false), ("f5", true), ("f6", .null), ("f7", .undefined), ("f0", .simple(16)), ("f8ff", .simple(255)),
    ("c074323031332d30332d32315432303a30343a30305a", "2013-03-21T20:04:00Z"), ("c11a514b67b0", 1_363_896_240),
    ("c1fb41d452d9ec200000", .float(1_363_896_240.5)), ("d74401020304", .bytes(Data([1, 2, 3, 4]))),
    ("d818456449455446", .bytes(Data([0x64, 0x49, 0x45, 0x54, 0x46]))),
    ("d82076687474703a2f2f7777772e6578616d706c652e636f6d", "http://www.example.com"),
    ("40", .bytes(Data())), ("4401020304", .bytes(Data([1, 2, 3, 4]))), ("60", ""), ("6161", "a"),
    ("6449455446", "IETF"),
    ("62225c", "\"\\"), ("62c3bc", "ü"), ("63e6b0b4", "水"), ("64f0908591", "𐅑"),
    ("80", .array([])), ("83010203", .array([1, 2, 3])),
    ("8301820203820405", .array([1, .array([2, 3]), .array([4, 5])])),
    ("98190102030405060708090a0b0c0d0e0f101112131415161718181819", .array((1...25).map { .integer($0) })),
    ("a0", .map([])), ("a201020304", .map([.init(1, 2), .init(3, 4)])),
    ("a26161016162820203", .map([.init("a", 1), .init("b", .array([2, 3]))])),
    ("826161a161626163", .array(["a", .map([.init("b", "c")])])),
    ("5f42010243030405ff", .bytes(Data([1, 2, 3, 4, 5]))), ("7f657374726561646d696e67ff", "streaming"),
    ("9fff", .array([])), ("9f018202039f0405ffff", .array([1, .array([2, 3]), .array([4, 5])])),
    ("83018202039f0405ff", .array([1, .array([2, 3]), .array([4, 5])])),
    ("bf61610161629f0203ffff", .map([.init("a", 1), .init("b", .array([2, 3]))])),
    ("826161bf61626163ff", .array(["a", .map([.init("b", "c")])])),
    ("bf6346756ef563416d7421ff", .map([.init("Fun", true), .init("Amt", -2)])),
  ]

  @Test func theExamplesOfTheStandardAreRead() throws {
    for (hex, value) in CBORTests.vectors {
      #expect(try CBOR(bytes(hex)) == value, "\(hex)")
      #expect(try CBOR(value.encoded()) == value, "\(hex) written again")
    }
    guard case .float(let number) = try CBOR(bytes("f97e00")) else {
      Issue.record("no float")
      return
    }
    #expect(number.isNaN)
  }

  @Test func definiteExamplesAreWrittenAsTheyWere() {
    for hex in [
      "00", "1818", "1903e8", "1a000f4240", "3903e7", "6449455446", "8301820203820405", "a26161016162820203", "f6",
    ] {
      #expect((try? CBOR(bytes(hex)))?.encoded() == bytes(hex), "\(hex)")
    }
  }

  @Test func everyTruncationIsAnError() throws {
    for (hex, _) in CBORTests.vectors {
      let whole = bytes(hex)
      for count in 0..<whole.count {
        #expect(throws: CBORError.self, "\(hex) cut to \(count)") { try CBOR(whole.prefix(count)) }
      }
    }
  }

  @Test(arguments: [
    ("0000", CBORError.trailingBytes(at: 1)), ("ff", .malformed(at: 0)), ("1c", .malformed(at: 0)),
    ("1f", .malformed(at: 0)), ("81ff", .malformed(at: 1)), ("a101ff", .malformed(at: 2)),
    ("5f01ff", .malformed(at: 1)),
    ("5f5f4100ffff", .malformed(at: 1)), ("7f4100ff", .malformed(at: 1)), ("61ff", .invalidUTF8(at: 0)),
    ("62c328", .invalidUTF8(at: 0)), ("f800", .malformed(at: 0)), ("ba00000041", .tooLarge(at: 0)),
    ("bbffffffffffffffff", .tooLarge(at: 0)), ("9bffffffffffffffff", .tooLarge(at: 0)), ("9910", .truncated(at: 1)),
    ("990fff", .truncated(at: 3)), ("5bffffffffffffffff", .truncated(at: 9)), ("7b7fffffffffffffff", .truncated(at: 9)),
    ("df00", .malformed(at: 0)), ("fc", .malformed(at: 0)),
  ])
  func malformedInputIsNamed(hex: String, error: CBORError) {
    #expect(throws: error) { try CBOR(bytes(hex)) }
  }

  @Test func depthIsLimited() {
    let deep = [UInt8](repeating: 0x81, count: 10_000) + [0]
    #expect(throws: CBORError.tooDeep(at: 16)) { try CBOR(deep) }
    let tags = [UInt8](repeating: 0xc1, count: 10_000) + [0]
    #expect(throws: CBORError.tooDeep(at: 16)) { try CBOR(tags) }
    #expect(throws: Never.self) { try CBOR([UInt8](repeating: 0x81, count: 15) + [0]) }
  }

  @Test func textIsLimitedAndBytesAreNot() {
    let text = CBOR.text(String(repeating: "x", count: 5000)).encoded()
    #expect(throws: CBORError.tooLarge(at: 0)) { try CBOR(text) }
    #expect((try? CBOR(text, limits: .stored))?.text?.count == 5000)
    #expect((try? CBOR(CBOR.bytes(Data(count: 100_000)).encoded()))?.bytes?.count == 100_000)
  }

  /// Empty texts, empty maps and parts of a string: many values for few bytes.
  @Test(arguments: [0x60, 0xa0, 0x80, 0xf6] as [UInt8]) func valuesInAllAreLimited(value: UInt8) {
    let row: [UInt8] = [0x99, 0x0f, 0xff] + [UInt8](repeating: value, count: 4095)
    func rows(_ count: Int, header: [UInt8]) -> [UInt8] {
      (0..<count).reduce(into: header) { bytes, _ in bytes.append(contentsOf: row) }
    }
    #expect(throws: CBORError.self) { try CBOR(rows(4095, header: [0x99, 0x0f, 0xff])) }
    #expect(throws: Never.self) { try CBOR(rows(15, header: [0x8f])) }
  }

  @Test func theStringsThatMakeUpOneAreLimited() {
    let parts: [UInt8] = [0x5f] + [UInt8](repeating: 0x40, count: 1 << 20) + [0xff]
    #expect(throws: CBORError.tooMany(at: 1 << 16)) { try CBOR(parts) }
  }

  @Test func onlyMessagesThatCarryChangesMayBeLong() throws {
    let data = Data(count: 2 << 20)
    let (ana, ben) = (PeerId("ana"), PeerId("ben"))
    let document = try #require(DocumentId(bytes: Array(1...16)))
    for content in [RepoMessage.Content.sync(data), .request(data)] {
      let good = RepoMessage.document(.init(senderId: ana, targetId: ben, documentId: document, content: content))
      #expect(try RepoMessage(good.encoded()) == good)
    }
    let long = RepoMessage.other(type: "heads", fields: ["documents": .bytes(data)]).encoded()
    #expect(throws: RepoMessageError.tooLong(type: "heads", byteCount: long.count)) { try RepoMessage(long) }
  }

  @Test func numbersAreUnderstoodHoweverTheyAreWritten() {
    #expect(CBOR.float(12).unsigned == 12)
    #expect(CBOR.float(-12).integer == -12)
    #expect(CBOR.float(1.5).unsigned == nil)
    #expect(CBOR.float(.nan).unsigned == nil)
    #expect(CBOR.float(1e300).unsigned == nil)
    #expect(CBOR.negative(.max).integer == nil)
    #expect(CBOR.unsigned(.max).integer == nil)
    #expect(CBOR.integer(.min).integer == .min)
  }

  @Test func theLastOfEqualKeysCounts() throws {
    let map = try CBOR(bytes("a3616101616102616300"))
    #expect(map["a"]?.integer == 2)
    #expect(try CBOR(bytes("a16161f7"))["a"] == nil)
    #expect(CBOR.integer(1)["a"] == nil)
  }

  @Test func randomBytesNeverDoHarm() {
    let seed: UInt64 = 20_260_101
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...40, using: &random)
      let input = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      if let value = try? CBOR(input) {
        // What was read can be written, and reads as the same bytes again.
        let written = value.encoded()
        #expect((try? CBOR(written))?.encoded() == written, "seed \(seed), input \(input)")
      }
    }
  }

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
