import Foundation
import TestSupport
import Testing

@testable import Automerge

/// A change whose counters leave no room for more would make a document read-only for all, forever.
struct DistantCounterTests {
  private let document: Document
  private let text: ObjId

  init() throws {
    document = try Document(actor: "aa")
    text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "tea")
    document.commitWith()
  }

  private static let forger = ActorId(bytes: [0xbb])

  /// A change by the forger that types a letter at the start of the text.
  private func typing(at startOp: UInt32, seq: UInt64 = 1, behind deps: Set<ChangeHash>) throws -> Data {
    let header = ChangeHeader(
      deps: Array(deps), actor: Self.forger, seq: seq, startOp: startOp, time: 0, message: nil)
    let run = OpRun.insertion(
      object: OpId(counter: 1, actor: 1), behind: .zero, count: 1, text: 0, byteCount: 1)
    let change = DecodedChange(
      try #require(deps.first), header, [Self.forger, document.actor], run: run, text: Array("x".utf8))
    var encoder = SingleRunEncoder()
    encoder.write(change)
    return Data(Chunk.encode(.change, body: Array(encoder.body)).bytes)
  }

  /// A change by the forger without operations.
  private func nothing(at startOp: UInt32, behind deps: Set<ChangeHash>) -> Data {
    var writer = ByteWriter()
    writer.hashes(Array(deps))
    writer.actor(Self.forger)
    writer.uleb(1)
    writer.uleb(UInt64(startOp))
    // Time, message, other actors and columns.
    for _ in 0..<4 { writer.uleb(0) }
    return Data(Chunk.encode(.change, body: writer.bytes).bytes)
  }

  private func hash(_ chunk: Data) throws -> ChangeHash { try ChunkReader.all(Array(chunk)[...])[0].hash }

  @Test(arguments: [4_000_000_000, UInt32.max - 1])
  func aChangeFarBeyondAllOthersIsRefused(startOp: UInt32) throws {
    let heads = document.heads()
    for chunk in [try typing(at: startOp, behind: heads), nothing(at: startOp, behind: heads)] {
      let error = LoadError.inconsistent(try hash(chunk), .counters)
      #expect(throws: error) { try document.applyEncodedChanges(encoded: chunk) }
      #expect(throws: ReceiveSyncError.changes(error)) {
        try document.receiveSyncMessage(state: SyncState(), message: ForgedChunk.message(of: [Array(chunk)]))
      }
    }
    #expect(document.heads() == heads)
    try document.spliceText(obj: text, start: 3, delete: 0, value: "s")
    #expect(try document.text(obj: text) == "teas")
  }

  @Test func aPeersDocumentWithSuchAChangeIsRefusedAndAFileWithOneIsRead() throws {
    let heads = document.heads(), other = document.fork()
    let chunk = try typing(at: 4_000_000_000, behind: heads)
    #expect(document.applyChunks([chunk], areOwn: true).isEmpty)
    let saved = document.save()
    let message = try IncomingMessage(ForgedChunk.message(of: [Array(saved)]), known: [])
    #expect(message.nextPortion() == nil)
    #expect(message.firstError == .inconsistentDocument(.counters))
    let file = try Document(saved)
    #expect(file.heads() == document.heads())
    #expect(throws: LoadError.self) { try other.merge(other: file) }
    #expect(other.heads() == heads)
  }

  /// Each may lie beyond the operations that there are, not beyond the one before it.
  @Test func manySuchChangesLeaveAsMuchRoomAsOne() throws {
    let gap = UInt32(FormatLimits.counterGap)
    try document.applyEncodedChanges(encoded: try typing(at: gap, behind: document.heads()))
    let heads = document.heads()
    let next = try typing(at: 2 * gap, seq: 2, behind: heads)
    #expect(throws: LoadError.self) { try document.applyEncodedChanges(encoded: next) }
    #expect(document.heads() == heads)
    // What follows the first one without a gap is taken.
    let other = document.fork()
    try other.spliceText(obj: text, start: 0, delete: 0, value: String(repeating: "y", count: 1000))
    try other.spliceText(obj: text, start: 0, delete: 0, value: "z")
    try document.applyEncodedChanges(encoded: try other.encodeChangesSince(heads: heads))
    #expect(document.heads() == other.heads())
  }

  /// No replica would take what is typed behind it if the number of its operations decided where the next counters begin.
  @Test func whatFollowsAChangeWithoutOperationsIsTaken() throws {
    let other = document.fork()
    let chunk = nothing(at: 1000, behind: document.heads())
    try document.applyEncodedChanges(encoded: chunk)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "green ")
    try other.applyEncodedChanges(encoded: chunk)
    try other.applyEncodedChanges(encoded: document.encodeNewChanges())
    #expect(try other.text(obj: text) == "green tea")
    #expect(try Document(document.save()).heads() == other.heads())
  }

  @Test func aChangeInAnIsolatedPastMayLeaveCountersOut() throws {
    let reader = document.fork(), past = document.heads()
    try document.spliceText(obj: text, start: 3, delete: 0, value: String(repeating: "s", count: 5000))
    document.commitWith()
    try document.isolate(heads: past)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "green ")
    document.commitWith()
    let changes = try ChunkReader.all(Array(try document.encodeChangesSince(heads: past))[...])
    let chunk = Chunk.encode(.change, body: Array(try #require(changes.last).body))
    try reader.applyEncodedChanges(encoded: Data(chunk.bytes))
    #expect(try reader.text(obj: text) == "green tea")
  }
}
