import Foundation
import TestSupport
import Testing

@testable import Automerge

/// The readers of the most common changes, and of the columns below all others.
struct FormatReadersTests {
  @Test func aBooleanColumnHasAtMostTheAllowedRows() throws {
    var encoder = BooleanEncoder()
    encoder.append(false, count: 2)
    encoder.append(true, count: 3)
    let bytes = encoder.finish()
    var decoder = BooleanDecoder(bytes[...], mode: .strict, limit: 5)
    #expect(try decoder.nextRun() ?? (true, 0) == (false, 2))
    #expect(try decoder.nextRun() ?? (false, 0) == (true, 3))
    try decoder.expectEnd()
    var poorer = BooleanDecoder(bytes[...], mode: .strict, limit: 4)
    #expect(throws: FormatError.tooMany(limit: 4, at: 1)) { while try poorer.nextRun() != nil {} }
  }

  /// The first and last scalar of each length, and around the surrogates.
  @Test func textIsScalarsThatAreWrittenAsBrieflyAsTheyCanBe() throws {
    let ends: [UInt32] = [0, 0x7f, 0x80, 0x7ff, 0x800, 0xfff, 0x1000, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff]
    for value in ends {
      let bytes = Array(String(try #require(Unicode.Scalar(value))).utf8)
      #expect(UTF8Scalar.count(in: (bytes + bytes)[...], byteCount: bytes.count) == 2, "\(value)")
    }
    let none = ["80", "c080", "c1bf", "e09fbf", "eda080", "edbfbf", "f08fbfbf", "f4908080", "f5808080", "e28228"]
    for hex in none {
      let bytes = try #require(Hex.bytes(hex))
      #expect(UTF8Scalar.count(in: bytes[...], byteCount: bytes.count) == 0, "\(hex)")
    }
  }

  @Test func whatIsSkippedMayReachTheEndButNotBeyond() throws {
    var reader = ByteReader([2, 7, 7])
    try reader.skipLengthPrefixed()
    #expect(reader.isAtEnd)
    try reader.skip(count: 0)
    #expect(throws: FormatError.truncated(at: 3)) { try reader.skip(count: 1) }
    var short = ByteReader([3, 7, 7])
    #expect(throws: FormatError.truncated(at: 0)) { try short.skipLengthPrefixed() }
  }

  // MARK: Numbers in memory

  private func read<Value>(_ bytes: [UInt8], _ read: (inout MemoryReader) -> Value) -> Value? {
    bytes.withUnsafeBufferPointer { memory in
      var reader = MemoryReader(memory)
      let value = read(&reader)
      return reader.isGood && reader.isAtEnd ? value : nil
    }
  }

  @Test(arguments: UInt64(1)...5) func numbersInMemoryAreReadAsTheyAreWritten(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var numbers: [Int64] = [0, 63, 64, -64, -65, 8191, 8192, -8192, -8193, 1_048_575, 1_048_576, .max, .min]
    for bits in 1..<64 { numbers.append(Int64.random(in: .min ... .max, using: &random) >> Int64(bits)) }
    for number in numbers {
      var signed = ByteWriter(), unsigned = ByteWriter()
      signed.sleb(number)
      unsigned.uleb(UInt64(bitPattern: number))
      #expect(read(signed.bytes) { $0.sleb() } == number, "seed \(seed)")
      #expect(read(unsigned.bytes) { $0.uleb() } == UInt64(bitPattern: number), "seed \(seed)")
    }
  }

  @Test(arguments: ["8000", "ff7f", "80808000", "bf0000", "c07f", "80c07f", "80bf00", "ffffffffffffffffff01", "80"])
  func signedNumbersInMemoryThatAreTooLongOrTooShortAreBad(hex: String) throws {
    #expect(read(try #require(Hex.bytes(hex))) { $0.sleb() } == nil)
  }

  // MARK: Changes of one run

  private static let actors = [ActorId(bytes: [7, 7]), ActorId(bytes: [9])]

  /// What people do, with near and far ids.
  private static let runs: [OpRun] = ([1, 40, 8192, 1_048_576] as [UInt32]).flatMap { counter -> [OpRun] in
    let far = OpId(counter: counter, actor: 1), own = OpId(counter: counter, actor: 0)
    let list = OpId(counter: 1, actor: 0), others = OpId(counter: 1, actor: 1)
    return [
      .insertion(object: others, behind: .zero, count: 3, text: 0, byteCount: 3),
      .insertion(object: others, behind: own, count: 1, text: 0, byteCount: 1),
      .insertion(object: list, behind: far, count: 5, text: 0, byteCount: 5),
      .insertion(object: others, behind: far, count: 1, text: 0, byteCount: 1),
      .deletion(object: others, from: own, count: 1, step: 1),
      .deletion(object: list, from: far, count: 4, step: 1),
      .deletion(object: others, from: OpId(counter: counter + 10, actor: 1), count: 4, step: -1),
      .deletion(object: others, from: OpId(counter: counter + 10, actor: 0), count: 2, step: -1),
    ]
  }

  /// Nearly every change is read without taking its columns apart.
  @Test(arguments: runs.indices) func aChangeOfOneRunIsReadTheShortWay(place: Int) throws {
    let run = Self.runs[place], text = Array("typed".utf8.prefix(Int(run.byteCount)))
    for startOp in [3_000_000, .max - run.count] { try expectShort(run, text, startOp: startOp) }
  }

  private func expectShort(_ run: OpRun, _ text: [UInt8], startOp: UInt32) throws {
    let header = ChangeHeader(
      deps: [], actor: Self.actors[0], seq: 3, startOp: startOp, time: 0, message: nil)
    let change = DecodedChange(Chunk.hash(.change, body: []), header, Self.actors, run: run, text: text)
    let body = ChangeEncoder.body(header, author: 0, runs: [run], of: change)
    let chunk = Chunk(kind: .change, body: body[...], hash: Chunk.hash(.change, body: body))
    var reader = ByteReader(chunk.body)
    _ = try reader.hashes()
    try reader.skipLengthPrefixed()
    _ = try reader.uleb()
    _ = try reader.uleb()
    _ = try reader.sleb()
    try reader.skipLengthPrefixed()
    for _ in 0..<(try reader.count(itemByteCount: 1)) { try reader.skipLengthPrefixed() }
    let read = try #require(ChangeDecoder.singleRun(chunk, header: header, actors: Self.actors, reader))
    let found = try #require(read.runs.first)
    #expect(read.runs.count == 1 && read.opCount == Int(run.count) && read.text == text)
    #expect(found.kind == run.kind && found.object == run.object && found.target == run.target)
    #expect(found.count == run.count && found.step == run.step)
  }

  // MARK: Chunks in memory

  @Test func onlyAChangeWithNoOtherDependencyFollowsAnother() throws {
    let one = try Document(actor: "aa")
    try one.put(obj: .ROOT, key: "a", value: .Int(1))
    one.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    let other = one.fork()
    for document in [one, other] {
      try document.put(obj: .ROOT, key: "b", value: .Int(2))
      document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    try one.merge(other: other)
    try one.put(obj: .ROOT, key: "c", value: .Int(3))
    one.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    let chunks = Array(try one.encodeChangesSince(heads: []))
    try chunks.withUnsafeBufferPointer { memory in
      var frames: [ChangeFrame] = []
      while frames.last?.body.upperBound != memory.count {
        frames.append(try #require(ChangeFrame(memory, at: frames.last?.body.upperBound ?? 0)))
      }
      #expect(frames.count == 4)
      #expect(frames.map { $0.follows(frames[0].hash, in: memory) } == [false, true, true, false])
      #expect(frames.map { $0.deps(in: memory)?.count } == [0, 1, 1, 2])
      let both = try #require(frames[3].deps(in: memory))
      #expect(Set(both) == [frames[1].hash, frames[2].hash])
      #expect(!both.contains { frames[3].follows($0, in: memory) })
    }
  }
}
