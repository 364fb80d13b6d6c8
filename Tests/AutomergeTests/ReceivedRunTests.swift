import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Typing and deleting that come from others: several writers at once, in part refused, or not possible at all.
struct ReceivedRunTests {
  /// A base text, and what two others typed on top of it without seeing each other, change by change in turn.
  private struct Story {
    let base: Document
    let changes: [[UInt8]]
    let heads: Set<ChangeHash>
    let authors: [ActorId]

    init() throws {
      base = try Document(actor: "aa")
      let text = try base.putObject(obj: .ROOT, key: "text", ty: .Text)
      try base.spliceText(obj: text, start: 0, delete: 0, value: "base")
      let writers = [base.fork(), base.fork()]
      for (writer, name) in zip(writers, ["bb", "cc"]) {
        try writer.rename(name)
        for letter in ["x", "y", "z"] {
          try writer.spliceText(obj: text, start: 2, delete: 0, value: letter)
          writer.commitWith(timestamp: Date(timeIntervalSince1970: 0))
        }
      }
      let written = writers.map { writer in writer.withCore { core in (1...3).map { core.chunk(ofRow: $0) } } }
      changes = (0..<3).flatMap { [written[0][$0], written[1][$0]] }
      heads = Set(writers.flatMap { $0.heads() })
      authors = writers.map(\.actor)
    }

    /// How many bytes are applied in the shortest way.
    func take(_ chunks: [[UInt8]], _ document: Document, _ filter: AuthorFilter? = nil) -> Int {
      let bytes = Array(chunks.joined())
      return document.withCore { core in
        var edits: TextEditCollector?
        return bytes.withUnsafeBufferPointer { core.takeRuns($0, edits: &edits, filter: filter) }
      }
    }
  }

  @Test func typingInSeveralBranchesNeedsNothingElse() throws {
    let story = try Story()
    for chunks in [story.changes, story.changes.reversed(), story.changes + story.changes] {
      let reader = story.base.fork()
      #expect(story.take(chunks, reader) == chunks.joined().count)
      #expect(reader.heads() == story.heads)
      #expect(reader.brokenInvariant() == nil)
    }
  }

  @Test func anAttestedChangeIsTakenAndTheNextOneIsNot() throws {
    let story = try Story()
    let own = stride(from: 0, to: 6, by: 2).map { story.changes[$0] }
    // Also of an author that the reader knows already.
    for known in 0...1 {
      let reader = story.base.fork()
      try reader.applyEncodedChanges(encoded: Data(own.prefix(known).joined()))
      let attested = try ChunkReader.all(own[known][...])[0].hash
      let filter = AuthorFilter(attested: [story.authors[0]: [attested]])
      #expect(story.take([own[known]], reader.fork(), filter) == own[known].count)
      #expect(story.take(Array(own[known...]), reader, filter) == own[known].count)
      #expect(reader.heads() == [attested])
    }
  }

  /// The last element of the deletion was never inserted, or is something else.
  @Test(arguments: [1, -1]) func aDeletionBeyondTheTextIsRefused(step: Int) throws {
    let document = try Document(actor: "aa")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "ab")
    document.commitWith()
    let reader = try Document(document.save()), heads = document.heads()
    let run = OpRun.deletion(
      object: OpId(counter: 1, actor: 0), from: OpId(counter: step > 0 ? 3 : 2, actor: 0), count: 2, step: step)
    let chunk = try Self.chunk(of: run, "", startOp: 5, by: [document.actor], deps: heads)
    #expect(throws: LoadError.self) { try reader.applyEncodedChanges(encoded: Data(chunk)) }
    #expect(reader.heads() == heads)
    #expect(try reader.text(obj: text) == "ab")
    #expect(reader.brokenInvariant() == nil)
  }

  /// It cannot have been there when the change was made: what is there has a smaller counter.
  @Test(arguments: [true, false]) func aChangeOfWhatIsNotOlderIsRefused(isTyping: Bool) throws {
    let document = try Document(actor: "aa")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "ab")
    let other = document.fork(), heads = document.heads(), reader = document.fork()
    try other.rename("bb")
    try other.spliceText(obj: text, start: 2, delete: 0, value: "x")
    try reader.merge(other: other)
    let object = OpId(counter: 1, actor: 0), target = OpId(counter: 4, actor: 1)
    let run =
      isTyping
      ? OpRun.insertion(object: object, behind: target, count: 1, text: 0, byteCount: 1)
      : .deletion(object: object, from: target, count: 1, step: 1)
    let chunk = try Self.chunk(
      of: run, isTyping ? "y" : "", startOp: 4, by: [document.actor, other.actor], deps: heads)
    let hash = try ChunkReader.all(chunk[...])[0].hash
    #expect(throws: LoadError.inconsistent(hash, .counters)) {
      try reader.applyEncodedChanges(encoded: Data(chunk))
    }
    #expect(reader.heads() == other.heads())
  }

  /// A second change of the first one of `actors`, as its bytes.
  private static func chunk(
    of run: OpRun, _ text: String, startOp: UInt32, by actors: [ActorId], deps: Set<ChangeHash>
  ) throws -> [UInt8] {
    let header = ChangeHeader(
      deps: Array(deps), actor: actors[0], seq: 2, startOp: startOp, time: 0, message: nil)
    let change = DecodedChange(try require(deps.first), header, actors, run: run, text: Array(text.utf8))
    var encoder = SingleRunEncoder()
    encoder.write(change)
    return Chunk.encode(.change, body: Array(encoder.body)).bytes
  }

  @Test(arguments: 1...3) func everyChangeOfASyncMessageIsTaken(count: Int) throws {
    let story = try Story(), reader = story.base.fork(), chunks = story.changes.prefix(count)
    var message = SyncMessage()
    message.changes = chunks.map { $0[...] }
    try reader.receiveSyncMessage(state: SyncState(), message: Data(message.encoded))
    #expect(reader.getHistory().count == 1 + count)
  }

  /// A text of more than a mebibyte goes in parts, if it is in few changes.
  @Test func onlyMoreThanAMebibyteGoesInParts() throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    var sent: [Bool] = []
    for value in [String(repeating: "a", count: 1 << 20), "b"] {
      try document.spliceText(obj: text, start: 0, delete: 0, value: value)
      document.commitWith()
      sent.append(document.withCore { SyncedHistory(core: $0, edits: nil, filter: nil).goesInParts })
    }
    #expect(sent == [false, true])
  }
}
