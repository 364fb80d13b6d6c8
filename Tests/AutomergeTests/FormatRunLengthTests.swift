import TestSupport
import Testing

@testable import Automerge

/// The canonical form written the plain way: a list of all rows, grouped.
private func naiveEncoding<Item: RunItem>(_ rows: [Item?]) -> [UInt8] {
  var output = ByteWriter()
  var literals: [Item] = []
  func flush() {
    guard !literals.isEmpty else { return }
    output.sleb(-Int64(literals.count))
    for literal in literals { literal.write(to: &output) }
    literals = []
  }
  var index = 0
  while index < rows.count {
    var end = index
    while end < rows.count, rows[end] == rows[index] { end += 1 }
    if let value = rows[index] {
      if end - index == 1 {
        literals.append(value)
      } else {
        flush()
        output.sleb(Int64(end - index))
        value.write(to: &output)
      }
    } else {
      flush()
      output.sleb(0)
      output.uleb(end - index)
    }
    index = end
  }
  flush()
  return output.bytes
}

private func decodeAll<Item: RunItem>(_ bytes: [UInt8], mode: ColumnMode) throws -> [Item?] {
  var decoder = RunLengthDecoder<Item>(bytes, mode: mode)
  var rows: [Item?] = []
  while let run = try decoder.nextRun() { rows += [Item?](repeating: run.value, count: run.count) }
  return rows
}

struct FormatRunLengthTests {
  @Test func theWorkedExampleIsEncodedByteForByte() throws {
    func encoded(_ rows: [UInt64?]) -> String {
      var encoder = RunLengthEncoder<UInt64>()
      for row in rows { encoder.append(row) }
      return Hex.text(encoder.finish())
    }
    #expect(encoded([nil, nil, 0, 0]) == "00020200")
    #expect(encoded([nil, nil, nil, 0]) == "00037f00")
    #expect(encoded([1, 4, 1, 1]) == "7e01040201")
    #expect(encoded([38, 0, 22, 22]) == "7e26000216")
    #expect(encoded([0, 0, 1, 0]) == "02007e0100")
    var keys = RunLengthEncoder<String>()
    keys.append("k")
    keys.append("t")
    keys.appendNull(count: 2)
    #expect(Hex.text(keys.finish()) == "7e016b01740002")
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func runsAppendedInAnyPiecesGiveTheCanonicalForm(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var encoder = RunLengthEncoder<UInt64>()
    var rows: [UInt64?] = []
    for _ in 0..<Int.random(in: 0...40, using: &random) {
      let count = Int.random(in: 0...3, using: &random)
      let value: UInt64? = Int.random(in: 0...4, using: &random) == 0 ? nil : UInt64.random(in: 0...2, using: &random)
      encoder.append(value, count: count)
      rows += [UInt64?](repeating: value, count: count)
    }
    #expect(encoder.count == rows.count)
    #expect(encoder.hasValues == rows.contains { $0 != nil })
    let bytes = encoder.finish()
    #expect(bytes == naiveEncoding(rows), "seed \(seed)")
    #expect(try decodeAll(bytes, mode: .strict) == rows, "seed \(seed)")
    #expect(try decodeAll(bytes, mode: .lenient) == rows, "seed \(seed)")
  }

  @Test func longRunsCostNothing() throws {
    var encoder = RunLengthEncoder<UInt64>()
    encoder.append(7, count: 100_000_000)
    encoder.append(7, count: 100_000_000)
    let bytes = encoder.finish()
    #expect(bytes.count == 6)
    var decoder = RunLengthDecoder<UInt64>(bytes, mode: .strict)
    #expect(try decoder.nextRun(atMost: 5)?.count == 5)
    #expect(try decoder.nextRun()?.count == 199_999_995)
    #expect(try decoder.nextRun() == nil)
  }

  @Test func canonicallyEquivalentStringsStayApart() throws {
    var encoder = RunLengthEncoder<String>()
    encoder.append("\u{e9}")
    encoder.append("e\u{301}")
    let bytes = encoder.finish()
    #expect(Hex.text(bytes) == "7e02c3a90365cc81")
    var decoder = RunLengthDecoder<String>(bytes, mode: .strict)
    #expect(try decoder.nextValue().utf8.count == 2)
    #expect(try decoder.nextValue().utf8.count == 3)
  }

  @Test(arguments: [
    ("7f017f02", FormatError.RunFault.adjacentLiterals),
    ("00010001", .adjacentNulls),
    ("02010201", .adjacentRepeats),
    ("0101", .shortRepeat),
    ("7e0101", .equalLiteralNeighbours),
    ("7f010201", .equalAcrossBoundary),
    ("02017f01", .equalAcrossBoundary),
    ("0000", .emptyNulls),
  ])
  func onlyTheCanonicalFormPassesInDocuments(hex: String, fault: FormatError.RunFault) throws {
    let bytes = try #require(Hex.bytes(hex))
    let error = #expect(throws: FormatError.self) { try decodeAll(bytes, mode: .strict) as [UInt64?] }
    guard case .run(let found, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(found == fault)
    #expect(throws: Never.self) { try decodeAll(bytes, mode: .lenient) as [UInt64?] }
  }

  @Test(arguments: [
    "808080808080808010 01",  // a run of 2^60
    "00 80808080808080808001",  // 2^63 nulls
    "ffffffffffffffff00 01 ffffffffffffffff00 02",  // runs that overflow when added
  ])
  func absurdRowCountsAreRefusedAtOnce(hex: String) throws {
    let bytes = try #require(Hex.bytes(hex))
    for mode in [ColumnMode.strict, .lenient] {
      var decoder = RunLengthDecoder<UInt64>(bytes, mode: mode)
      #expect(throws: FormatError.self) { while try decoder.nextRun() != nil {} }
    }
  }

  @Test func literalRunsMustHaveTheirItems() throws {
    for hex in ["7e01", "80808080808080808 07f01".replacing(" ", with: ""), "7d", "02", "00"] {
      var decoder = RunLengthDecoder<UInt64>(try #require(Hex.bytes(hex)), mode: .lenient)
      #expect(throws: FormatError.self) { while try decoder.nextRun() != nil {} }
    }
  }
}
