import Foundation
import TestSupport
import Testing

@testable import Automerge

struct FormatColumnTests {
  @Test func ascendingIdsAreOneRun() throws {
    var encoder = DeltaEncoder()
    encoder.appendAscending(1, count: 4)
    #expect(Hex.text(encoder.finish()) == "0401")
    encoder.appendNull(count: 2)
    encoder.append(0)
    encoder.append(3)
    #expect(Hex.text(encoder.finish()) == "00027e0003")
    encoder.append(4)
    encoder.append(5)
    #expect(Hex.text(encoder.finish()) == "7e0401")
    encoder.append(5)
    encoder.append(0)
    #expect(Hex.text(encoder.finish()) == "7e057b")
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func deltaRunsAndSingleValuesGiveTheSameBytes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var runs = DeltaEncoder()
    var singles = DeltaEncoder()
    var rows: [Int64?] = []
    for _ in 0..<Int.random(in: 0...20, using: &random) {
      let count = Int.random(in: 1...5, using: &random)
      if Bool.random(using: &random) {
        let (first, step) = (Int64.random(in: 100...1000, using: &random), Int64.random(in: -2...2, using: &random))
        runs.appendAscending(first, count: count, step: step)
        for index in 0..<count { rows.append(first + Int64(index) * step) }
      } else {
        runs.appendNull(count: count)
        rows += [Int64?](repeating: nil, count: count)
      }
    }
    for row in rows { singles.append(row) }
    let bytes = runs.finish()
    #expect(bytes == singles.finish(), "seed \(seed)")
    var decoder = DeltaDecoder(bytes, range: 0...2000, mode: .strict)
    var decoded: [Int64?] = []
    while let run = try decoder.nextRun(atMost: Int.random(in: 1...4, using: &random)) {
      for index in 0..<run.count { decoded.append(run.value(at: index)) }
    }
    #expect(decoded == rows, "seed \(seed)")
  }

  @Test func deltasThatLeaveTheRangeAreRefused() throws {
    var encoder = DeltaEncoder()
    encoder.appendAscending(Int64(UInt32.max) - 1, count: 3)
    let high = encoder.finish()
    var decoder = DeltaDecoder(high, range: DeltaDecoder.counters, mode: .strict)
    #expect(throws: FormatError.self) { while try decoder.nextRun() != nil {} }
    var writer = ByteWriter()
    writer.sleb(1000)
    writer.sleb(.max)
    var overflowing = DeltaDecoder(writer.bytes, range: DeltaDecoder.counters, mode: .strict)
    #expect(throws: FormatError.self) { try overflowing.nextRun() }
  }

  @Test func anyTwoTimesMayFollowEachOther() throws {
    let times: [Int64] = [-(1 << 62), 1 << 62, .min, .max, 0]
    var encoder = DeltaEncoder()
    for time in times { encoder.append(time) }
    var decoder = DeltaDecoder(encoder.finish(), range: DeltaDecoder.anything, mode: .strict)
    for time in times { #expect(try decoder.nextValue() == time) }
  }

  @Test func booleansAreAlternatingRuns() throws {
    var encoder = BooleanEncoder()
    encoder.append(false, count: 2)
    encoder.append(true)
    encoder.append(true)
    #expect(encoder.hasTrue)
    #expect(Hex.text(encoder.finish()) == "0202")
    encoder.append(true, count: 3)
    let bytes = encoder.finish()
    #expect(Hex.text(bytes) == "0003")
    var decoder = BooleanDecoder(bytes, mode: .strict)
    let run = try #require(try decoder.nextRun())
    #expect(run == (true, 3))
    #expect(try decoder.nextRun() == nil)
    #expect(encoder.finish().isEmpty)
  }

  @Test(arguments: ["00", "0200", "0102000300"])
  func emptyBooleanRunsAreRefusedInDocuments(hex: String) throws {
    let bytes = try #require(Hex.bytes(hex))
    var decoder = BooleanDecoder(bytes, mode: .strict)
    #expect(throws: FormatError.self) { while try decoder.nextRun() != nil {} }
    var lenient = BooleanDecoder(bytes, mode: .lenient)
    #expect(throws: Never.self) { while try lenient.nextRun() != nil {} }
  }

  @Test func typedTextIsGroupedByByteLength() throws {
    var encoder = ValueEncoder()
    encoder.appendText(Array("ab".utf8))
    encoder.appendText(Array("cé😀😁z".utf8))
    encoder.appendNull(count: 3)
    var single = ValueEncoder()
    for scalar in "abcé😀😁z".unicodeScalars { single.append(ScalarValue.String(String(scalar))) }
    for _ in 0..<3 { single.append(ScalarValue.Null) }
    let (metadata, raw) = encoder.finish()
    let expected = single.finish()
    #expect(metadata == expected.metadata)
    #expect(raw == expected.raw)

    var decoder = ValueDecoder(metadata: metadata[...], raw: raw[...], mode: .strict)
    let first = try #require(try decoder.nextRun())
    #expect(first.count == 3 && first.byteCount == 1 && first.isText)
    let second = try #require(try decoder.nextRun(atMost: 1))
    #expect(second.isText)
    #expect(try second.value(at: 0).scalar == .String("é"))
    let third = try #require(try decoder.nextRun(atMost: 1))
    #expect(Array(third.bytes) == Array("😀".utf8))
    #expect(try decoder.nextRun()?.count == 1)
    #expect(try decoder.nextRun()?.count == 1)
    #expect(try decoder.nextRun()?.count == 3)
    try decoder.expectEnd()
  }

  @Test func onlyScalarsCountAsText() throws {
    func run(_ bytes: [UInt8], byteCount: Int) -> ValueRun {
      ValueRun(code: 6, byteCount: byteCount, count: bytes.count / byteCount, bytes: bytes[...])
    }
    #expect(run(Array("ab".utf8), byteCount: 1).isText)
    #expect(!run(Array("ab".utf8), byteCount: 2).isText)
    #expect(!run([0x80], byteCount: 1).isText)
    #expect(!run([0xc3, 0x28], byteCount: 2).isText)
    #expect(run(Array("éü".utf8), byteCount: 2).isText)
    #expect(!run(Array("a€".utf8), byteCount: 4).isText)
    // A lone surrogate.
    #expect(!run([0xed, 0xa0, 0x80], byteCount: 3).isText)
  }

  @Test func everyScalarValueRoundTrips() throws {
    let values: [ScalarValue] = [
      .Null, .Boolean(true), .Boolean(false), .Uint(.max), .Int(.min), .Int(.max), .F64(-0.0), .F64(.infinity),
      .String("hé"), .String(""), .Bytes(Data([1, 2])), .Counter(-5), .Timestamp(Date(timeIntervalSince1970: 1.5)),
      .Unknown(typeCode: 14, data: Data([9, 9])),
    ]
    for value in values {
      let raw = RawValue(value)
      let checked = try RawValue(code: raw.code, bytes: raw.bytes)
      #expect(checked == raw)
      #expect(checked.scalar == value)
    }
    let quiet = Double(bitPattern: 0x7ff8_0000_dead_beef)
    #expect(RawValue(.F64(quiet)).bytes == Hex.bytes("efbeadde0000f87f"))
  }

  @Test(
    arguments: [
      (0, "00"), (1, "01"), (2, "01"), (3, ""), (3, "8000"), (3, "0101"), (4, "ff7f"), (4, "80"), (5, "00000000000000"),
      (6, "c328"), (6, "eda080"), (8, ""), (9, "0000"),
    ] as [(UInt8, String)])
  func valuesThatDoNotFitTheirTypeAreRefused(code: UInt8, hex: String) throws {
    let bytes = try #require(Hex.bytes(hex))
    #expect(throws: FormatError.badValue(typeCode: code, at: 3)) { try RawValue(code: code, bytes: bytes, at: 3) }
  }

  @Test func valueLengthsAreCheckedAgainstTheBytes() throws {
    // 2^27 values of 2^40 bytes.
    var metadata = RunLengthEncoder<UInt64>()
    metadata.append(UInt64(1) << 44 | 6, count: 1 << 27)
    var decoder = ValueDecoder(metadata: metadata.finish()[...], raw: [1, 2, 3], mode: .strict)
    #expect(throws: FormatError.self) { try decoder.nextRun() }
  }

  @Test func columnListsRoundTripAndLongColumnsAreDeflated() throws {
    let long = [UInt8](repeating: 7, count: 300)
    var columns = ColumnWriter(deflating: true)
    columns.append(ColumnSpec.Op.objectActor, [1, 2])
    columns.append(ColumnSpec.Op.keyString, [])
    columns.append(ColumnSpec.Op.valueMetadata, [5])
    columns.append(ColumnSpec.Op.valueRaw, long)
    var writer = ByteWriter()
    columns.writeHeader(to: &writer)
    columns.writeData(to: &writer)
    #expect(writer.count < 60)
    var reader = ByteReader(writer.bytes)
    var budget = 1000
    let set = try ColumnHeader(from: &reader, allowingDeflate: true).readColumns(from: &reader, inflating: &budget)
    #expect(reader.isAtEnd)
    #expect(budget == 700)
    #expect(Array(set[ColumnSpec.Op.valueRaw]) == long)
    #expect(Array(set[ColumnSpec.Op.objectActor]) == [1, 2])
    #expect(set[ColumnSpec.Op.keyString].isEmpty)
    #expect(set.unknown(besides: [ColumnSpec.Op.objectActor]).count == 2)
    var again = ByteReader(writer.bytes)
    #expect(throws: FormatError.self) { try ColumnHeader(from: &again, allowingDeflate: false) }
    var poor = ByteReader(writer.bytes)
    var little = 100
    #expect(throws: FormatError.inflatedTooLarge(limit: 100)) {
      try ColumnHeader(from: &poor, allowingDeflate: true).readColumns(from: &poor, inflating: &little)
    }
  }

  @Test(arguments: [
    "02 0200 0100", "02 0100 0100", "02 0100 0900", "01 5700", "02 4600 5700", "05 0100", "01 ffffffff1f00",
  ])
  func badColumnListsAreRefused(hex: String) throws {
    var reader = ByteReader(try #require(Hex.bytes(hex)))
    #expect(throws: FormatError.self) { try ColumnHeader(from: &reader, allowingDeflate: true) }
  }
}
