import TestSupport
import Testing

@testable import Automerge

struct FormatChunkTests {
  private static let change =
    "856f4a83c3852f3c01480001aa010105016d000a0104020411041305150734024205560557047002000202000002020200037f0000027e00037e016b0174000202027e010402017e26000216686961620400"
  private static let secondChange =
    "856f4a83c5b11e48015001c3852f3cd2fa6a618d33e8d579b2d609101a6aaf689488e96e40cc19bd3dfbaa01aa02050000000a01020202110213023401420256027002710273027f007f027f007f03017f037f007f017f007f03"

  @Test func theWorkedExampleHasItsHash() throws {
    let bytes = try #require(Hex.bytes(Self.change))
    let chunk = try #require(try ChunkReader.all(bytes[...]).first)
    #expect(chunk.kind == .change)
    #expect(chunk.hash.description.hasPrefix("c3852f3cd2fa6a618d33e8d579b2d609101a6aaf689488e96e40cc19bd3dfbaa"))
    #expect(Chunk.encode(.change, body: Array(chunk.body)).bytes == bytes)
  }

  @Test func theEmptyDocumentIsFramedAsKnown() throws {
    #expect(Hex.text(Chunk.encode(.document, body: [0, 0, 0, 0]).bytes) == "856f4a83b81a9544000400000000")
  }

  @Test func compressedChangesComeOutAsChanges() throws {
    let body = [UInt8]("some body, some body, some body".utf8)
    let plain = Chunk.encode(.change, body: body)
    let compressed = Chunk.encodeCompressed(changeBody: body, hash: plain.hash)
    let chunk = try #require(try ChunkReader.all(compressed[...]).first)
    #expect(chunk.kind == .change)
    #expect(Array(chunk.body) == body)
    #expect(chunk.hash == plain.hash)
  }

  @Test func everyCutIsAnError() throws {
    let bytes = try #require(Hex.bytes(Self.change))
    for count in 1..<bytes.count {
      #expect(throws: FormatError.self) { try ChunkReader.all(bytes.prefix(count)) }
    }
    #expect(try ChunkReader.all([]).isEmpty)
  }

  @Test func oneBadChunkTakesNoOtherWithIt() throws {
    let (first, second) = (try #require(Hex.bytes(Self.change)), try #require(Hex.bytes(Self.secondChange)))
    var flipped = first
    flipped[20] ^= 1
    for bad in [flipped, Array(first.prefix(30)), [1, 2, 3], Array(first.prefix(3)), Array(first.dropFirst(2))] {
      var reader = ChunkReader(second + bad + second + first)
      var good = 0
      var errors = 0
      while let next = reader.next() {
        switch next {
        case .success: good += 1
        case .failure: errors += 1
        }
      }
      #expect(good == 3)
      #expect(errors == 1)
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func garbageIsReadInBoundedTime(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    // Many forged headers, each of which claims the rest of the buffer.
    var bytes: [UInt8] = []
    for _ in 0..<2000 {
      bytes +=
        Chunk.magic + [
          0, 0, 0, 0, UInt8.random(in: 0...4, using: &random), 0x80, UInt8.random(in: 1...127, using: &random),
        ]
    }
    var reader = ChunkReader(bytes)
    var results = 0
    while reader.next() != nil { results += 1 }
    #expect(results >= 1, "seed \(seed)")
  }

  @Test func aDeflateBombIsRefused() throws {
    // 40 MiB of zeros in some 40 KiB, as a compressed change.
    let bomb = Deflate.deflate([UInt8](repeating: 0, count: 40 << 20)[...])
    var writer = ByteWriter()
    writer.raw(Chunk.magic + [0, 0, 0, 0, 2])
    writer.lengthPrefixed(bomb)
    #expect(throws: FormatError.inflatedTooLarge(limit: FormatLimits.inflatedByteCount)) {
      try ChunkReader.all(writer.bytes[...])
    }
  }

  @Test func whatWeDeflateIsNeverTakenForABomb() throws {
    let columns = [
      [UInt8](repeating: 97, count: 8 << 20), [UInt8](repeating: 98, count: 600_000),
      [UInt8](repeating: 99, count: 400_000),
    ]
    var columnWriter = ColumnWriter(deflating: true)
    for (id, bytes) in columns.enumerated() { columnWriter.append(ColumnSpec(UInt32(id), .string), bytes) }
    var writer = ByteWriter()
    columnWriter.writeHeader(to: &writer)
    columnWriter.writeData(to: &writer)
    var reader = ByteReader(writer.bytes)
    var budget = FormatLimits.inflatedByteCount(stored: writer.count)
    let set = try ColumnHeader(from: &reader, allowingDeflate: true).readColumns(from: &reader, inflating: &budget)
    #expect(set.columns.map { Array($0.bytes) } == columns)
    #expect(writer.count > 8 << 20)
  }

  @Test func deflateStreamsMustEnd() throws {
    let input = [UInt8]((0..<5000).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) })
    let deflated = Deflate.deflate(input[...])
    #expect(try Deflate.inflate(deflated[...], limit: 5000) == input)
    #expect(try Deflate.inflate((deflated + [1, 2, 3])[...], limit: 5000) == input)
    #expect(throws: FormatError.badDeflate) { try Deflate.inflate(deflated.dropLast(), limit: 5000) }
    #expect(throws: FormatError.badDeflate) { try Deflate.inflate([], limit: 5000) }
    #expect(throws: FormatError.badDeflate) { try Deflate.inflate([0x78, 0x9c, 1, 2], limit: 5000) }
    #expect(throws: FormatError.inflatedTooLarge(limit: 4999)) { try Deflate.inflate(deflated[...], limit: 4999) }
  }

  @Test(arguments: [
    ("00000000", FormatError.notAChunk(at: 0)),
    ("856f4a83 00000000 04 00", .unknownChunkType(4, at: 0)),
    ("856f4a83 00000000 01 00", .badChecksum(at: 0)),
    ("856f4a83 00000000 01 8100", .overlongInteger(at: 9)),
    ("856f4a83 00000000 01 05 00", .truncated(at: 9)),
    ("856f4a83 00000000 01 ffffffffffffffffff01", .integerTooLarge(at: 9)),
  ])
  func eachFaultOfTheFrameIsNamed(hex: String, error: FormatError) throws {
    let bytes = try #require(Hex.bytes(hex))
    #expect(throws: error) { try ChunkReader.all(bytes[...]) }
  }
}
