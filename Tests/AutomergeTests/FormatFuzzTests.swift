import TestSupport
import Testing

@testable import Automerge

/// Random bytes through every decoder: errors are fine, traps and endless loops are not.
struct FormatFuzzTests {
  /// Bytes in which small numbers, the ends of the integer ranges and zeros are frequent.
  private func hostileBytes(_ random: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...24, using: &random) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes += [0]
      case 1: bytes += [UInt8](repeating: 0xff, count: Int.random(in: 1...9, using: &random)) + [1]
      case 2: bytes += [UInt8](repeating: 0x80, count: Int.random(in: 1...9, using: &random)) + [0x7f]
      case 3: bytes += [UInt8.random(in: 0x70...0x7f, using: &random)]
      case 4: bytes += [UInt8.random(in: 0...255, using: &random)]
      default: bytes += [UInt8.random(in: 0...8, using: &random)]
      }
    }
    return bytes
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func noDecoderTraps(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      let bytes = hostileBytes(&random)
      for mode in [ColumnMode.strict, .lenient] {
        var integers = RunLengthDecoder<UInt64>(bytes, mode: mode)
        while let run = try? integers.nextRun() { #expect(run.count > 0, "seed \(seed)") }
        var strings = RunLengthDecoder<String>(bytes, mode: mode)
        while let run = try? strings.nextRun() { #expect(run.count > 0, "seed \(seed)") }
        for range in [DeltaDecoder.counters, DeltaDecoder.anything] {
          var deltas = DeltaDecoder(bytes, range: range, mode: mode)
          while let run = try? deltas.nextRun() {
            #expect(run.first.map(range.contains) ?? true, "seed \(seed)")
            #expect(run.value(at: run.count - 1).map(range.contains) ?? true, "seed \(seed)")
          }
        }
        var booleans = BooleanDecoder(bytes, mode: mode)
        while let run = try? booleans.nextRun() { #expect(run.count > 0, "seed \(seed)") }
        let cut = Int.random(in: 0...bytes.count, using: &random)
        var values = ValueDecoder(metadata: bytes[..<cut], raw: bytes[cut...], mode: mode)
        while let run = try? values.nextRun() {
          _ = run.isText
          _ = try? run.value(at: run.count - 1).scalar
        }
      }
      var reader = ByteReader(bytes)
      if let header = try? ColumnHeader(from: &reader, allowingDeflate: true) {
        var budget = 1000
        _ = try? header.readColumns(from: &reader, inflating: &budget)
      }
      _ = try? SyncMessage(decoding: ([0x43] + bytes)[...])
      _ = try? BloomFilter(decoding: bytes[...])
      _ = try? Deflate.inflate(bytes[...], limit: 1000)
    }
  }

  @Test func aMillionEmptyRunsAreNoDepth() throws {
    var decoder = RunLengthDecoder<UInt64>([UInt8](repeating: 0, count: 2_000_000), mode: .lenient)
    #expect(try decoder.nextRun() == nil)
  }
}
