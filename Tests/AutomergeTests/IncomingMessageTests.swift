import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Large messages of peers, read away from the document and taken in by portions.
struct IncomingMessageTests {
  private func note(_ content: String = "start") throws -> (Document, ObjId) {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: content)
    document.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    return (document, text)
  }

  private func edit(_ document: Document, _ text: ObjId, _ random: inout SeededGenerator) throws {
    let length = Int(document.length(obj: text))
    let start = Int.random(in: 0...length, using: &random)
    let delete = Bool.random(using: &random) ? Int.random(in: 0...min(5, length - start), using: &random) : 0
    let value = ["a", "word ", "é\n", "😀", String(repeating: "long ", count: 40)].randomElement(using: &random) ?? ""
    try document.spliceText(obj: text, start: UInt64(start), delete: Int64(delete), value: value)
    if Int.random(in: 0..<4, using: &random) == 0 {
      try document.put(obj: .ROOT, key: "k\(Int.random(in: 0..<3, using: &random))", value: .Int(Int64(start)))
    }
    document.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
  }

  private func message(from sender: Document, to receiver: Document, kind: Int) throws -> Data {
    var message = SyncMessage()
    message.heads = sender.heads().sorted()
    let chunks = try sender.encodeChangesSince(heads: receiver.heads())
    switch kind {
    case 0:
      message.changes = try ChunkReader.all(Array(chunks)[...]).map {
        Chunk.encodeCompressed(changeBody: Array($0.body), hash: $0.hash)[...]
      }
    case 1: message.changes = [Array(chunks)[...]]
    case 2: message.changes = [Array(sender.save())[...]]
    default:
      message.changes = try ChunkReader.all(Array(chunks)[...]).reversed().map {
        Chunk.encode($0.kind, body: Array($0.body)).bytes[...]
      }
    }
    return Data(message.encoded)
  }

  /// Takes a message in by portions, and returns what it did to texts.
  private func take(_ data: Data, into document: Document, _ filter: AuthorFilter, _ state: SyncState) throws
    -> (edits: [TextEdit], filter: AuthorFilter, portions: Int)
  {
    let incoming = try IncomingMessage(data, known: document.heads().isEmpty ? [] : document.getHistory())
    var filter = incoming.widening(filter)
    var (edits, portions): ([TextEdit], Int) = ([], 0)
    while let portion = incoming.nextPortion() {
      portions += 1
      edits += document.takeIn(portion, of: incoming, filter: &filter).edits
    }
    try document.finish(incoming, state: state)
    return (edits, filter, portions)
  }

  @Test(arguments: SeedCount.part(of: 0..<40)) func byPortionsOrInOneGoTheSameComesOut(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let (base, text) = try note(String(repeating: "x", count: seed))
    let (sender, whole) = (base.fork(), base.fork())
    for _ in 0..<seed % 7 { try edit(whole, text, &random) }
    let parts = try Document(whole.save())
    for _ in 0..<60 { try edit(sender, text, &random) }
    let data = try message(from: sender, to: base, kind: seed % 4)
    let (one, other) = (SyncState(), SyncState())
    let filter = AuthorFilter(attested: seed % 3 == 0 ? [whole.actor: []] : [sender.actor: sender.heads()])
    var filterOfWhole = filter
    let before = try whole.text(obj: text)
    _ = try whole.receiveSyncMessageWithTextEdits(state: one, message: data, filter: &filterOfWhole)
    let (edits, filterOfParts, _) = try take(data, into: parts, filter, other)
    #expect(whole.heads() == parts.heads() && whole.save() == parts.save(), "seed \(seed)")
    #expect(one.theirHeads == other.theirHeads && filterOfWhole.leftOut == filterOfParts.leftOut, "seed \(seed)")
    var bytes = Array(before.utf8)
    for edit in edits where edit.object == text {
      bytes.replaceSubrange(edit.utf8Offset..<edit.utf8Offset + edit.deleted.count, with: edit.inserted)
    }
    #expect(String(decoding: bytes, as: UTF8.self) == (try parts.text(obj: text)), "seed \(seed)")
    // And the two go on with one another.
    let fresh = Document()
    var none = AuthorFilter(attested: [:])
    let joined = try IncomingMessage(message(from: parts, to: Document(), kind: 2), known: [])
    while let portion = joined.nextPortion() {
      #expect(portion.wholeDocument != nil)
      _ = fresh.takeIn(portion, of: joined, filter: &none)
    }
    try fresh.finish(joined, state: SyncState())
    #expect(fresh.heads() == parts.heads())
  }

  @Test func aDocumentThatCameTooLateIsListed() throws {
    var random = SeededGenerator(seed: 1)
    let (sender, text) = try note()
    let base = try Document(sender.save())
    for _ in 0..<50 { try edit(sender, text, &random) }
    let receiver = Document()
    let incoming = try IncomingMessage(message(from: sender, to: Document(), kind: 2), known: [])
    let portion = try #require(incoming.nextPortion())
    try receiver.merge(other: base)
    #expect(portion.wholeDocument != nil && !receiver.isUntouched)
    incoming.list(portion, known: receiver.getHistory())
    var filter = AuthorFilter(attested: [:])
    while let portion = incoming.nextPortion() { _ = receiver.takeIn(portion, of: incoming, filter: &filter) }
    try receiver.finish(incoming, state: SyncState())
    #expect(receiver.heads() == sender.heads())
  }

  @Test func whatIsTypedIsLightAndWhatIsMuchIsNot() throws {
    let (document, text) = try note()
    let start = document.heads()
    try document.spliceText(obj: text, start: 0, delete: 0, value: "hello")
    document.commitWith()
    func message(_ chunk: Data) -> Data {
      var message = SyncMessage()
      message.changes = [Array(chunk)[...]]
      return Data(message.encoded)
    }
    let typed = try document.encodeChangesSince(heads: start)
    #expect(IncomingWeight.isLight(message(typed)))
    #expect(IncomingWeight.isLight(message(document.save())))
    #expect(IncomingWeight.isLight(Data([1, 2, 3])), "what is no message is refused at once")
    let chunk = try ChunkReader.all(Array(typed)[...])[0]
    #expect(
      !IncomingWeight.isLight(message(Data(Chunk.encodeCompressed(changeBody: Array(chunk.body), hash: chunk.hash)))))
    #expect(!IncomingWeight.isLight(message(typed + [1, 2, 3])))
    try document.spliceText(obj: text, start: 0, delete: 0, value: String(repeating: "x", count: 5000))
    document.commitWith()
    #expect(!IncomingWeight.isLight(message(try document.encodeChangesSince(heads: start))))
    #expect(!IncomingWeight.isLight(message(document.save())))
  }

  /// Documents of a kilobyte each that inflate to nearly a megabyte of one column, and have no operation.
  @Test func whatInflatesToMuchIsNotLight() throws {
    func document(_ byteCount: Int) -> [UInt8] {
      let zeros = Deflate.deflate([UInt8](repeating: 0, count: byteCount)[...])
      var body = ByteWriter()
      body.raw([0, 0, 0, 1])
      body.uleb(UInt64(ColumnSpec.Op.keyString.deflated.rawValue))
      body.uleb(zeros.count)
      body.raw(zeros)
      return Chunk.encode(.document, body: body.bytes).bytes
    }
    let (small, large) = (document(100_000), document(900_000))
    #expect(large.count < IncomingWeight.lightDocumentByteCount)
    #expect(IncomingWeight.isLight(ForgedChunk.message(of: [small])))
    #expect(!IncomingWeight.isLight(ForgedChunk.message(of: [large])))
    #expect(!IncomingWeight.isLight(ForgedChunk.message(of: [small, small])))
    #expect(!IncomingWeight.isLight(ForgedChunk.message(of: [small + small])))
  }

  @Test func aChangeOfTooManyPiecesIsNotTaken() throws {
    let (document, text) = try note()
    let start = document.heads()
    for _ in 0..<50 { try document.spliceText(obj: text, start: 0, delete: 0, value: "x") }
    document.commitWith()
    let chunk = try ChunkReader.all(Array(try document.encodeChangesSince(heads: start))[...])[0]
    #expect(throws: LoadError.self) { try ChangeDecoder.decode(chunk, atMost: 40) }
    #expect(try ChangeDecoder.decode(chunk, atMost: 60).runs.count == 50)
  }

  /// Changes that depend on missing ones, one after the other.
  @Test func ofChangesThatWaitForeverSomeAreKept() throws {
    let (document, text) = try note()
    for start in stride(from: 0, to: 6000, by: 1000) {
      try document.applyEncodedChanges(encoded: Data((start..<start + 1000).flatMap(ForgedChunk.orphan)))
    }
    #expect(document.withCore { $0.queue.count } == 4096)
    // The document is as good as before, for its own changes and for others'.
    let fork = document.fork()
    try fork.spliceText(obj: text, start: 0, delete: 0, value: "x")
    try document.merge(other: fork)
    #expect(try document.text(obj: text) == "xstart")
  }

  // MARK: Data that inflate to much

  /// A note, and the changes of another author who has written 100,000 letters ten times, each deflated to a few hundred
  /// bytes.
  private func bombs() throws -> (base: Document, sender: Document, chunks: [[UInt8]]) {
    let (base, text) = try note()
    let sender = base.fork()
    for _ in 0..<10 {
      try sender.spliceText(obj: text, start: 0, delete: 0, value: String(repeating: "a", count: 100_000))
      sender.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    }
    let chunks = try ChunkReader.all(Array(sender.encodeChangesSince(heads: base.heads()))[...])
    return (base, sender, chunks.map { Chunk.encodeCompressed(changeBody: Array($0.body), hash: $0.hash) })
  }

  /// Looking for what authors vouch for inflates a message a second time.
  @Test func aSurveyPaysForWhatItInflatesAndGivesUp() throws {
    let (base, sender, chunks) = try bombs()
    let filter = AuthorFilter(attested: [sender.actor: sender.heads()])
    let known = base.getHistory()
    // With enough room it finds all, and what it has paid for is not charged again.
    let whole = try IncomingMessage(ForgedChunk.message(of: chunks), known: known)
    #expect(whole.widening(filter).attested[sender.actor]?.count == 10)
    #expect((900_000...1_010_000).contains(whole.takeExcess()))
    while whole.nextPortion() != nil {}
    #expect(whole.takeExcess() == 0)

    var questions = 0
    let limited = try IncomingMessage(ForgedChunk.message(of: chunks), known: known, inflatingAtMost: 350_000)
    let widened = limited.widening(filter) {
      questions += 1
      return false
    }
    #expect(widened.attested == filter.attested && questions == 4)
    #expect((300_000...350_000).contains(limited.takeExcess()))
    // The portions have their own room, so what is good is taken none the less.
    var count = 0
    while let portion = limited.nextPortion() { count += portion.changes.count }
    #expect(count == 3)
  }

  @Test func aSurveyEndsWhenItsPeerHasGone() throws {
    let (base, sender, chunks) = try bombs()
    let filter = AuthorFilter(attested: [sender.actor: sender.heads()])
    let incoming = try IncomingMessage(ForgedChunk.message(of: chunks), known: base.getHistory())
    var questions = 0
    let widened = incoming.widening(filter) {
      questions += 1
      return questions == 3
    }
    #expect(widened.attested == filter.attested && questions == 3)
    #expect((180_000...201_000).contains(incoming.takeExcess()))
  }

  @Test func whatInflatesIsPaidForThoughItIsNoGood() throws {
    let (base, _, chunks) = try bombs()
    let damaged = chunks.map { chunk in
      var chunk = chunk
      chunk[4] ^= 1
      return chunk
    }
    let saved = try note(String(repeating: "a", count: 300_000)).0.save()
    let document = try ChunkReader.all(Array(saved)[...])[0]
    var body = Array(document.body)
    // The first of the heads, behind the actors.
    var reader = ByteReader(body[...])
    for _ in 0..<(try reader.count(itemByteCount: 1)) { _ = try reader.actor() }
    body[reader.offset + 1] ^= 1
    let wrong = Chunk.encode(.document, body: body).bytes
    for message in [ForgedChunk.message(of: damaged), ForgedChunk.message(of: Array(repeating: wrong, count: 10))] {
      let incoming = try IncomingMessage(message, known: base.getHistory(), inflatingAtMost: 350_000)
      #expect(incoming.nextPortion() == nil && incoming.firstError != nil)
      #expect((250_000...350_000).contains(incoming.takeExcess()))
    }
  }

  /// One operation that claims a hundred million predecessors in a few bytes.
  @Test func predecessorsThatAreOnlyClaimedCostNothing() throws {
    let count = 100_000_000
    var columns: [(ColumnSpec, [UInt8])] = []
    func run(_ length: Int, _ value: [UInt8]) -> [UInt8] {
      var writer = ByteWriter()
      writer.sleb(Int64(length))
      return writer.bytes + value
    }
    func literal(_ value: [UInt8]) -> [UInt8] { [0x7f] + value }
    var number = ByteWriter()
    number.uleb(count)
    columns.append((ColumnSpec.Op.keyString, literal([1, UInt8(ascii: "k")])))
    columns.append((ColumnSpec.Op.insert, [1]))
    columns.append((ColumnSpec.Op.action, literal([1])))
    columns.append((ColumnSpec.Op.valueMetadata, literal([0])))
    columns.append((ColumnSpec.Op.predecessorCount, literal(number.bytes)))
    columns.append((ColumnSpec.Op.predecessorActor, run(count, [0])))
    columns.append((ColumnSpec.Op.predecessorCounter, run(count, [1])))
    var body = ByteWriter()
    body.hashes([])
    body.lengthPrefixed(Array(repeating: 7, count: 16))
    body.uleb(1)
    body.uleb(UInt64(count + 5))
    body.sleb(0)
    body.lengthPrefixed([])
    body.uleb(0)
    body.uleb(columns.count)
    for (spec, bytes) in columns {
      body.uleb(UInt64(spec.rawValue))
      body.uleb(bytes.count)
    }
    for (_, bytes) in columns { body.raw(bytes) }
    let chunk = Chunk.encode(.change, body: body.bytes).bytes
    var message = SyncMessage()
    message.changes = [chunk[...]]
    #expect(!IncomingWeight.isLight(Data(message.encoded)))
    let (error, seconds) = ProcessorTime.inThisThread { () -> (any Error)? in
      do {
        try Document().applyEncodedChanges(encoded: Data(chunk))
        return nil
      } catch { return error }
    }
    #expect(error is LoadError, "\(String(describing: error))")
    #expect(seconds < 0.5)
  }
}
