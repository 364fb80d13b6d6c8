import Foundation
import TestSupport
import Testing

@testable import Automerge

struct FormatIntegerTests {
  @Test func unsignedIntegersRoundTripInMinimalLength() throws {
    let values: [(UInt64, Int)] = [
      (0, 1), (127, 1), (128, 2), (16383, 2), (16384, 3), (UInt64(UInt32.max), 5), (1 << 62, 9), (1 << 63, 10),
      (.max, 10),
    ]
    for (value, byteCount) in values {
      var writer = ByteWriter()
      writer.uleb(value)
      #expect(writer.count == byteCount)
      var reader = ByteReader(writer.bytes)
      #expect(try reader.uleb() == value)
      #expect(reader.isAtEnd)
    }
  }

  @Test func signedIntegersRoundTripInMinimalLength() throws {
    let values: [(Int64, Int)] = [
      (0, 1), (63, 1), (64, 2), (-64, 1), (-65, 2), (-1, 1), (8191, 2), (8192, 3), (.max, 10), (.min, 10),
      (1 << 62, 10),
      (-(1 << 62), 9), (-(1 << 62) - 1, 10),
    ]
    for (value, byteCount) in values {
      var writer = ByteWriter()
      writer.sleb(value)
      #expect(writer.count == byteCount, "\(value)")
      var reader = ByteReader(writer.bytes)
      #expect(try reader.sleb() == value)
      #expect(reader.isAtEnd)
    }
  }

  @Test(arguments: ["8000", "ff00", "80808000", "ffffffffffffffffff00"])
  func longerThanNeededUnsignedIntegersAreRefused(hex: String) throws {
    var reader = ByteReader(try #require(Hex.bytes(hex)))
    #expect(throws: FormatError.overlongInteger(at: 0)) { try reader.uleb() }
  }

  @Test(arguments: ["8000", "ff7f", "80808000", "bf00 00", "c07f"])
  func longerThanNeededSignedIntegersAreRefused(hex: String) throws {
    var reader = ByteReader(try #require(Hex.bytes(hex)))
    #expect(throws: FormatError.overlongInteger(at: 0)) { try reader.sleb() }
  }

  @Test func integersBeyond64BitsAreRefused() throws {
    var unsigned = ByteReader(try #require(Hex.bytes("ffffffffffffffffff02")))
    #expect(throws: FormatError.integerTooLarge(at: 0)) { try unsigned.uleb() }
    var signed = ByteReader(try #require(Hex.bytes("ffffffffffffffffff01")))
    #expect(throws: FormatError.integerTooLarge(at: 0)) { try signed.sleb() }
    var endless = ByteReader([UInt8](repeating: 0xff, count: 100))
    #expect(throws: FormatError.integerTooLarge(at: 0)) { try endless.uleb() }
  }

  @Test func everyCutIntegerIsTruncated() throws {
    for count in 0..<10 {
      var reader = ByteReader([UInt8](repeating: 0x80, count: count))
      #expect(throws: FormatError.truncated(at: count)) { try reader.uleb() }
    }
  }

  @Test func lengthsAreCheckedBeforeAnythingIsAllocated() throws {
    var writer = ByteWriter()
    writer.uleb(UInt64.max)
    var huge = ByteReader(writer.bytes)
    #expect(throws: FormatError.integerTooLarge(at: 0)) { try huge.lengthPrefixed() }
    writer = ByteWriter()
    writer.uleb(1 << 40)
    var long = ByteReader(writer.bytes)
    #expect(throws: FormatError.truncated(at: 0)) { try long.hashes() }
  }

  @Test func slicesKeepTheirPlaceInTheBuffer() throws {
    var reader = ByteReader([1, 2, 3, 4, 5][2...])
    #expect(reader.offset == 2)
    #expect(try Array(reader.bytes(count: 2)) == [3, 4])
    #expect(throws: FormatError.truncated(at: 4)) { try reader.bytes(count: 2) }
    #expect(throws: FormatError.leftover(at: 4)) { try reader.expectEnd() }
  }

  @Test func brokenUTF8IsRefused() throws {
    var reader = ByteReader([2, 0xc3, 0x28])
    #expect(throws: FormatError.invalidUTF8(at: 0)) { try reader.string() }
  }

  @Test func hashesKeepTheirBytesAndOrder() throws {
    let low = try #require(ChangeHash(bytes: [UInt8](repeating: 0, count: 31) + [9]))
    let high = try #require(ChangeHash(bytes: [1] + [UInt8](repeating: 0, count: 31)))
    #expect(low < high)
    #expect(low.description == String(repeating: "0", count: 63) + "9")
    #expect(high.bytes == [1] + [UInt8](repeating: 0, count: 31))
    #expect(ChangeHash(bytes: [1, 2]) == nil)
  }
}
