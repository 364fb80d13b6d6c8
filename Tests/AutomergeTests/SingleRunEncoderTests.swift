import TestSupport
import Testing

@testable import Automerge

/// The short way of writing and reading a change comes to the bytes of the long way.
struct SingleRunEncoderTests {
  @Test(arguments: UInt64(1)...20) func anyRunIsWrittenAsTheColumnCodersWriteIt(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let change = Self.change(&random)
      let body = ChangeEncoder.body(change.header, author: 0, runs: change.runs, of: change)
      let chunk = Chunk(kind: .change, body: body[...], hash: Chunk.hash(.change, body: body))
      var encoder = SingleRunEncoder()
      encoder.write(change)
      #expect(Array(encoder.body) == body, "seed \(seed)")
      #expect(encoder.changeHash() == chunk.hash, "seed \(seed)")
      let read = try ChangeDecoder.decode(chunk)
      #expect(read.runs.count == 1 && read.opCount == change.opCount, "seed \(seed)")
      let again = ChangeEncoder.body(read.header, author: 0, runs: read.runs, of: read)
      #expect(again == body, "seed \(seed)")
    }
  }

  @Test(arguments: UInt64(1)...20) func aDamagedRunReadsAsTheColumnCodersReadIt(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let change = Self.change(&random)
      var body = ChangeEncoder.body(change.header, author: 0, runs: change.runs, of: change)
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        body[Int.random(in: body.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let chunk = Chunk(kind: .change, body: body[...], hash: Chunk.hash(.change, body: body))
      guard let read = try? ChangeDecoder.decode(chunk) else { continue }
      #expect(
        ChangeEncoder.body(read.header, author: 0, runs: read.runs, of: read) == body, "seed \(seed)")
    }
  }

  /// A change of one run: typed or deleted, long or short, with near and far ids, by one actor or naming another.
  private static func change(_ random: inout SeededGenerator) -> DecodedChange {
    let counters: [UInt32] = [1, 2, 3, 10, 64, 127, 128, 300, 20_000, 3_000_000]
    let count = [1, 2, 3, 5, 63, 64, 127, 200].randomElement(using: &random) ?? 1
    let startOp = (counters.randomElement(using: &random) ?? 1) + 1
    var actors = [ActorId(bytes: [7, 7]), ActorId(bytes: [9])]
    var object = OpId(counter: counters.randomElement(using: &random) ?? 1, actor: .random(in: 0...1, using: &random))
    var target = OpId(counter: counters.randomElement(using: &random) ?? 1, actor: .random(in: 0...1, using: &random))
    if object.actor == 0, target.actor == 0 || target.isZero { actors.removeLast() }
    let isText = Bool.random(using: &random)
    if isText, Int.random(in: 0..<4, using: &random) == 0 {
      target = .zero
      object.actor = actors.count == 2 ? 1 : 0
    }
    let deps = (0..<Int.random(in: 0...2, using: &random)).map { Chunk.hash(.change, body: [UInt8($0)]) }
    let header = ChangeHeader(
      deps: deps, actor: actors[0], seq: .random(in: 1...300, using: &random), startOp: startOp,
      time: .random(in: -70...2_000_000_000, using: &random),
      message: Bool.random(using: &random) ? "why" : nil)
    let step = Int(target.counter) > count && Bool.random(using: &random) && count > 1 ? -1 : 1
    let run =
      isText
      ? OpRun.insertion(object: object, behind: target, count: count, text: 0, byteCount: count)
      : .deletion(object: object, from: target, count: count, step: step)
    let text = isText ? (0..<count).map { _ in UInt8.random(in: 1...127, using: &random) } : []
    return DecodedChange(Chunk.hash(.change, body: []), header, actors, run: run, text: text)
  }
}
