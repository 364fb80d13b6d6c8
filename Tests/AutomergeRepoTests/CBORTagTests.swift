import Foundation
import TestSupport
import Testing

@testable import AutomergeRepo

/// Tags are dropped, or kept where a program asks for them.
struct CBORTagTests {
  private static let keeping = CBOR.Limits.wire.keepingTags

  /// Tags of the standard's appendix A, of automerge-repo's encoder, and with numbers of every length.
  private static let vectors: [(hex: String, tag: UInt64, value: CBOR)] = [
    ("c074323031332d30332d32315432303a30343a30305a", 0, "2013-03-21T20:04:00Z"), ("c11a514b67b0", 1, 1_363_896_240),
    ("c249010000000000000000", 2, .bytes(Data([1, 0, 0, 0, 0, 0, 0, 0, 0]))),
    ("d74401020304", 23, .bytes(Data([1, 2, 3, 4]))),
    ("d818456449455446", 24, .bytes(Data([0x64, 0x49, 0x45, 0x54, 0x46]))),
    ("d8255000112233445566778899aabbccddeeff", 37, .bytes(Data((0..<16).map { UInt8($0 * 0x11) }))),
    ("d8404401020304", 64, .bytes(Data([1, 2, 3, 4]))), ("d9d9f78101", 55799, .array([1])),
    ("da00010000f6", 65536, .null), ("dbffffffffffffffff00", .max, 0),
  ]

  @Test func aKeptTagComesBackAsItWas() throws {
    for (hex, tag, value) in Self.vectors {
      let kept = try CBOR(bytes(hex), limits: Self.keeping)
      #expect(kept == .tagged(tag, value), "\(hex)")
      #expect(kept.encoded() == bytes(hex), "\(hex)")
      #expect(kept.untagged == value, "\(hex)")
      #expect(try CBOR(bytes(hex)) == value, "\(hex) without tags")
    }
  }

  @Test func tagsWithinTagsAndWithinMapsAreKept() throws {
    let value = CBOR.map([.init("id", .tagged(37, .tagged(64, .bytes(Data([1])))))])
    let read = try CBOR(value.encoded(), limits: Self.keeping)
    #expect(read == value)
    #expect(read["id"]?.bytes == Data([1]), "a reader of values need not know tags")
    #expect(try CBOR(value.encoded()) == .map([.init("id", .bytes(Data([1])))]))
  }

  @Test(arguments: [true, false]) func tagsAreWithinTheLimits(keeps: Bool) throws {
    let limits = keeps ? Self.keeping : .wire
    let tags = [UInt8](repeating: 0xc1, count: 15)
    #expect(try CBOR(tags + [0x01], limits: limits).untagged == 1)
    #expect(throws: CBORError.tooDeep(at: 16)) { try CBOR(tags + [0xc1, 0x01], limits: limits) }
    #expect(throws: CBORError.tooDeep(at: 16)) { try CBOR([UInt8](repeating: 0xc1, count: 1 << 20), limits: limits) }
    #expect(throws: CBORError.truncated(at: 1)) { try CBOR([0xc1] as [UInt8], limits: limits) }
    // A tag of indefinite length, and one before a break, are none.
    #expect(throws: CBORError.malformed(at: 0)) { try CBOR([0xdf, 0x01] as [UInt8], limits: limits) }
    #expect(throws: CBORError.malformed(at: 2)) { try CBOR([0x9f, 0xc1, 0xff] as [UInt8], limits: limits) }
  }

  private func bytes(_ hex: String) -> [UInt8] {
    var (bytes, rest) = ([UInt8](), Substring(hex))
    while let byte = UInt8(rest.prefix(2), radix: 16) { (bytes, rest) = (bytes + [byte], rest.dropFirst(2)) }
    return bytes
  }
}
