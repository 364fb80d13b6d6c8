import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Changes that come one after the other are taken in a shorter way, with the same outcome as in the longer one.
struct StreamedChangesTests {
  /// All changes of two writers who merge now and then, in an order in which they can be applied.
  private static func changes(_ random: inout SeededGenerator) throws -> [[UInt8]] {
    let alice = try Document(actor: "aa")
    let text = try alice.putObject(obj: .ROOT, key: "text", ty: .Text)
    alice.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    let bob = alice.fork()
    try bob.rename("bb")
    for step in 0..<60 {
      let writer = Bool.random(using: &random) ? alice : bob
      let length = try writer.textMeasure(obj: text).scalars
      let place = UInt64(Int.random(in: 0...length, using: &random))
      let words = ["x", "yes", "a line\n", "é", "🌲"]
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try writer.spliceText(obj: text, start: place, delete: .random(in: 1...4, using: &random))
      case 1: try writer.spliceText(obj: text, start: place, delete: -Int64(min(place, 2)))
      case 2: try (writer === alice ? alice : bob).merge(other: writer === alice ? bob : alice)
      case 3: try writer.put(obj: .ROOT, key: "title", value: .String("\(step)"))
      default:
        // Mostly typing on at the end.
        let start = Bool.random(using: &random) ? UInt64(length) : place
        try writer.spliceText(obj: text, start: start, delete: 0, value: words.randomElement(using: &random))
      }
      let message = Int.random(in: 0..<20, using: &random) == 0 ? "why" : nil
      writer.commitWith(message: message, timestamp: Date(timeIntervalSince1970: Double(step)))
    }
    try alice.merge(other: bob)
    return alice.withCore { core in (0..<core.graph.count).map { core.chunk(ofRow: $0) } }
  }

  /// Takes in changes the longer way: read in full, and put in order.
  private static func takeInFull(_ chunks: [[UInt8]], _ document: Document) throws -> [TextEdit] {
    try document.withCore { core in
      var edits: TextEditCollector? = TextEditCollector()
      var changes: [DecodedChange] = []
      for chunk in chunks {
        for each in try ChunkReader.all(chunk[...]) { changes.append(try ChangeDecoder.decode(each)) }
      }
      try core.receive(changes, edits: &edits)
      return edits?.edits ?? []
    }
  }

  private static func expectSame(_ short: Document, _ long: Document, _ note: Comment) {
    #expect(short.getHistory() == long.getHistory(), note)
    #expect(short.save() == long.save(), note)
    #expect(short.brokenInvariant() == nil, note)
  }

  /// A writer and a reader keep the newest change's bytes; a document that goes on, or is loaded, makes them again.
  @Test(arguments: UInt64(1)...5) func theNewestChangeIsGivenOutAsItIsMadeAgainLater(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let chunks = try Self.changes(&random)
    let reader = Document()
    for (count, chunk) in chunks.enumerated() {
      try reader.applyEncodedChanges(encoded: Data(chunk))
      #expect(reader.chunks(after: count)?.bytes == chunk, "seed \(seed), change \(count)")
      #expect(reader.chunks(after: count + 1) == nil)
    }
    let writer = reader.fork()
    guard case .Object(let text, .Text)? = try writer.get(obj: .ROOT, key: "text") else {
      Issue.record("the text is there")
      return
    }
    var told = writer.getHistory().count, kept: [UInt8] = []
    for letter in ["a", "b", "🌲", "c", "", "d"] {
      try writer.spliceText(obj: text, start: 0, delete: letter.isEmpty ? 1 : 0, value: letter)
      writer.commitWith(timestamp: Date(timeIntervalSince1970: 0))
      let news = try #require(writer.chunks(after: told))
      #expect(news.count == told + 1)
      kept += news.bytes
      told = news.count
    }
    let again = writer.chunks(after: chunks.count)
    #expect(again?.bytes == kept && again?.count == told, "seed \(seed)")
    let since = writer.chunks(since: reader.heads())
    #expect(since.bytes == kept && since.count == told, "seed \(seed)")
    #expect(try Document(writer.save()).chunks(since: reader.heads()).bytes == kept, "seed \(seed)")
  }

  @Test(arguments: UInt64(1)...20) func oneByOneTheyComeToTheSame(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let chunks = try Self.changes(&random)
    let short = Document(), long = Document()
    for chunk in chunks {
      let edits = try short.applyEncodedChangesWithTextEdits(encoded: Data(chunk))
      #expect(try edits == Self.takeInFull([chunk], long), "seed \(seed)")
    }
    Self.expectSame(short, long, "seed \(seed)")
  }

  @Test(arguments: UInt64(1)...20) func allAtOnceInAnyOrderTheyComeToTheSame(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var chunks = try Self.changes(&random)
    let first = chunks.removeFirst()
    // Some come twice.
    chunks += chunks.prefix(3)
    chunks.shuffle(using: &random)
    let short = Document(), long = Document()
    for document in [short, long] { try document.applyEncodedChanges(encoded: Data(first)) }
    let edits = try short.applyEncodedChangesWithTextEdits(encoded: Data(chunks.joined()))
    #expect(try edits == Self.takeInFull(chunks, long), "seed \(seed)")
    Self.expectSame(short, long, "seed \(seed)")
  }

  @Test(arguments: UInt64(1)...20) func severalAtOnceTheyComeToTheSame(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let chunks = try Self.changes(&random)
    let short = Document(), long = Document()
    var start = 0
    while start < chunks.count {
      let end = min(start + Int.random(in: 1...9, using: &random), chunks.count)
      let some = Array(chunks[start..<end])
      let edits = try short.applyEncodedChangesWithTextEdits(encoded: Data(some.joined()))
      #expect(try edits == Self.takeInFull(some, long), "seed \(seed)")
      // Some of what came may come again.
      start = end - Int.random(in: 0...1, using: &random) * (end - start > 1 ? 1 : 0)
    }
    Self.expectSame(short, long, "seed \(seed)")
  }

  @Test func typingThatFollowsItselfNeedsNothingElse() throws {
    let document = try Document(actor: "aa")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    let base = document.save()
    for letter in "typed and sent at once" {
      try document.spliceText(obj: text, start: 0, delete: 0, value: String(letter))
      document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    let bytes = Array(document.encodeNewChanges())
    let other = try Document(base)
    let taken = other.withCore { core in
      var edits: TextEditCollector?
      return bytes.withUnsafeBufferPointer { core.takeRuns($0, edits: &edits, filter: nil) }
    }
    #expect(taken == bytes.count)
    #expect(other.heads() == document.heads())
  }

  @Test func aChangeUpToTheGreatestCounterIsRefused() throws {
    let document = try Document(actor: "aa")
    _ = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    let heads = document.heads()
    let startOps: [UInt32] = [.max, .max - 1]
    for startOp in startOps {
      let actors = [ActorId(bytes: [0xbb]), ActorId(bytes: [0xaa])]
      let header = ChangeHeader(
        deps: Array(heads), actor: actors[0], seq: 1, startOp: startOp, time: 0, message: nil)
      let run = OpRun.insertion(
        object: OpId(counter: 1, actor: 1), behind: .zero, count: Int(UInt32.max - startOp) + 1, text: 0,
        byteCount: Int(UInt32.max - startOp) + 1)
      let text = Array("xy".utf8.prefix(Int(run.byteCount)))
      let change = DecodedChange(try require(heads.first), header, actors, run: run, text: text)
      var encoder = SingleRunEncoder()
      encoder.write(change)
      let chunk = Chunk.encode(.change, body: Array(encoder.body))
      #expect(throws: LoadError.self) { try document.applyEncodedChanges(encoded: Data(chunk.bytes)) }
      #expect(document.heads() == heads)
    }
  }

  @Test(arguments: SeedCount.part(of: UInt64(1)...20)) func damagedOnesAreRefusedAlike(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let chunks = try Self.changes(&random)
    let base = Document()
    try base.applyEncodedChanges(encoded: Data(chunks.dropLast(3).joined()))
    for _ in 0..<150 {
      var some: [[UInt8]] = []
      for (place, chunk) in chunks.suffix(3).enumerated() {
        var body = Array(try ChunkReader.all(chunk[...])[0].body)
        if place == 1 {
          let damaged = Int.random(in: body.indices, using: &random)
          body[damaged] = Bool.random(using: &random) ? .random(in: 0...255, using: &random) : body[damaged] ^ 1
        }
        some.append(Chunk.encode(.change, body: body).bytes)
      }
      let short = base.fork(), long = base.fork()
      var failures: (short: LoadError?, long: LoadError?)
      for each in some {
        do { try short.applyEncodedChanges(encoded: Data(each)) } catch { failures.short = error as? LoadError }
        do { _ = try Self.takeInFull([each], long) } catch {
          failures.long = error as? LoadError ?? (error as? FormatError).map { .format($0) }
        }
      }
      #expect(failures.short == failures.long, "seed \(seed)")
      Self.expectSame(short, long, "seed \(seed)")
    }
  }
}
