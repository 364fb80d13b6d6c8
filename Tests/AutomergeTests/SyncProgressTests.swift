import Foundation
import TestSupport
import Testing

@testable import Automerge

/// A history of changes that are nothing but their deps. A chunk is a list of them.
private struct FakeHistory: SyncableHistory {
  /// In row order.
  private(set) var rows: [ChangeHash] = []
  private var deps: [ChangeHash: [ChangeHash]] = [:]
  private var queued: [ChangeHash: [ChangeHash]] = [:]
  /// Ancestors visited by `changesNotAncestors`, to see that it is cheap.
  private(set) var documentsSaved = 0

  var syncHeads: [ChangeHash] {
    Set(rows).subtracting(rows.flatMap { deps[$0] ?? [] }).sorted()
  }
  var changeCount: Int { rows.count }
  var goesInParts: Bool { false }
  private(set) var lookUpCount = 0
  mutating func hasChange(_ hash: ChangeHash) -> Bool {
    lookUpCount += 1
    return deps[hash] != nil
  }
  func queuedDependencies(of hash: ChangeHash) -> [ChangeHash]? { queued[hash] }
  func dependencies(of hash: ChangeHash) -> [ChangeHash] { deps[hash] ?? [] }

  func changesNotAncestors(of hashes: [ChangeHash]) -> [ChangeHash] {
    var covered = Set<ChangeHash>()
    var open = hashes
    while let hash = open.popLast() {
      guard let parents = deps[hash], covered.insert(hash).inserted else { continue }
      open += parents
    }
    return rows.filter { !covered.contains($0) }
  }

  mutating func add(_ hash: ChangeHash, deps parents: [ChangeHash]) {
    guard deps[hash] == nil else { return }
    guard parents.allSatisfy({ deps[$0] != nil }) else {
      queued[hash] = parents
      return
    }
    deps[hash] = parents
    rows.append(hash)
    queued[hash] = nil
    for (waiting, parents) in queued where parents.allSatisfy({ deps[$0] != nil }) { add(waiting, deps: parents) }
  }

  /// A new change on all heads.
  mutating func edit(_ random: inout SeededGenerator) {
    guard let hash = ChangeHash(bytes: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }) else { return }
    add(hash, deps: syncHeads)
  }

  func encodedChange(_ hash: ChangeHash) -> [UInt8]? {
    guard let parents = deps[hash] else { return nil }
    var writer = ByteWriter()
    writer.hash(hash)
    writer.hashes(parents)
    return writer.bytes
  }

  mutating func savedDocument() -> [UInt8] {
    documentsSaved += 1
    return rows.compactMap { encodedChange($0) }.flatMap(\.self)
  }

  mutating func applySynced(_ chunks: [ArraySlice<UInt8>]) throws {
    for chunk in chunks {
      var reader = ByteReader(chunk)
      while !reader.isAtEnd { add(try reader.hash(), deps: try reader.hashes()) }
    }
  }
}

/// One side of a session.
private final class Side {
  var history = FakeHistory()
  var progress = SyncProgress()

  init(_ history: FakeHistory = FakeHistory()) { self.history = history }

  func generate() -> [UInt8]? { progress.generateMessage(from: &history)?.encoded }

  func receive(_ bytes: [UInt8]) throws {
    try progress.receive(try SyncMessage(decoding: bytes[...]), into: &history)
  }
}

/// Takes turns until both are silent; how many messages that took.
private func run(_ a: Side, _ b: Side, limit: Int = 50) throws -> Int {
  var (speaker, listener) = (a, b)
  var (count, silent) = (0, 0)
  while silent < 2, count < limit {
    if let message = speaker.generate() {
      try listener.receive(message)
      (count, silent) = (count + 1, 0)
    } else {
      silent += 1
    }
    swap(&speaker, &listener)
  }
  return count
}

struct SyncProgressTests {
  /// A peer may let a few changes wait that name any number of others, and each of our messages looks for what they lack.
  @Test func ofVeryManyMissingChangesOnlySomeAreLookedFor() throws {
    let hashes = (0..<200_000 as Range<Int>).compactMap { number in
      ChangeHash(bytes: (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 8))) })
    }
    let side = Side()
    side.history.add(hashes[0], deps: [])
    side.history.add(hashes[1], deps: Array(hashes[2...]))
    var message = SyncMessage()
    message.heads = [hashes[1]]
    message.have = [SyncMessage.Have()]
    try side.receive(message.encoded)
    let before = side.history.lookUpCount
    let answer = try #require(side.generate())
    #expect(try SyncMessage(decoding: answer[...]).need.count == SyncMessage.Limit.need)
    #expect(side.history.lookUpCount - before < 70_000)
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func anyTwoHistoriesBecomeEqual(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let a = Side()
    for _ in 0..<Int.random(in: 0...30, using: &random) { a.history.edit(&random) }
    let b = Side(a.history)
    for _ in 0..<Int.random(in: 0...30, using: &random) { a.history.edit(&random) }
    for _ in 0..<Int.random(in: 0...30, using: &random) { b.history.edit(&random) }
    for _ in 0..<3 {
      #expect(try run(a, b) < 50, "seed \(seed)")
      #expect(a.history.syncHeads == b.history.syncHeads, "seed \(seed)")
      #expect(Set(a.history.rows) == Set(b.history.rows), "seed \(seed)")
      if Bool.random(using: &random) { a.history.edit(&random) } else { b.history.edit(&random) }
      if Bool.random(using: &random) {
        a.progress = try SyncProgress(persisted: a.progress.persisted[...])
        b.progress = try SyncProgress(persisted: b.progress.persisted[...])
      }
    }
  }

  @Test func anEditAfterwardsIsOneMessageAndItsAnswer() throws {
    var random = SeededGenerator(seed: 1)
    let (a, b) = (Side(), Side())
    for _ in 0..<100 { a.history.edit(&random) }
    _ = try run(a, b)
    a.history.edit(&random)
    let first = try #require(a.generate())
    #expect(try SyncMessage(decoding: first[...]).changes.count == 1)
    #expect(first.count < 300)
    #expect(a.generate() == nil)
    try b.receive(first)
    let answer = try #require(b.generate())
    #expect(try SyncMessage(decoding: answer[...]).changes.isEmpty)
    try a.receive(answer)
    #expect(a.generate() == nil)
    #expect(b.generate() == nil)
  }

  @Test func editsGoOutWithoutWaitingForAnswersAndOnlyOnce() throws {
    var random = SeededGenerator(seed: 2)
    let (a, b) = (Side(), Side())
    for _ in 0..<20 { a.history.edit(&random) }
    _ = try run(a, b)
    var sent: [[UInt8]] = []
    for _ in 0..<5 {
      a.history.edit(&random)
      sent.append(try #require(a.generate()))
    }
    for message in sent {
      #expect(try SyncMessage(decoding: message[...]).changes.first?.count == 65)
      try b.receive(message)
    }
    #expect(b.history.syncHeads == a.history.syncHeads)
    #expect(try run(b, a) <= 2)
    #expect(a.progress.sentHashes.isEmpty)
  }

  /// A person types faster than answers come: each answer is about an earlier change than the last one sent.
  @Test func anAnswerToAnEarlierEditThanTheLastIsNotAnswered() throws {
    var random = SeededGenerator(seed: 7)
    let (a, b) = (Side(), Side())
    for _ in 0..<20 { a.history.edit(&random) }
    _ = try run(a, b)
    a.history.edit(&random)
    try b.receive(try #require(a.generate()))
    for _ in 0..<10 {
      let late = try #require(b.generate())
      a.history.edit(&random)
      let message = try #require(a.generate())
      try a.receive(late)
      #expect(a.generate() == nil, "all that they lack is on its way")
      try b.receive(message)
    }
    try a.receive(try #require(b.generate()))
    #expect(a.generate() == nil && b.generate() == nil)
    #expect(a.progress.sentHashes.isEmpty && b.history.syncHeads == a.history.syncHeads)
    // The controls: what they ask for, or have and we lack, is answered.
    a.history.edit(&random)
    _ = a.generate()
    b.progress.needsReset = true
    b.history.edit(&random)
    try a.receive(try #require(b.generate()))
    #expect(a.generate() != nil)
  }

  @Test func anEmptyPeerGetsTheDocumentOnce() throws {
    var random = SeededGenerator(seed: 3)
    let (a, b) = (Side(), Side())
    for _ in 0..<50 { a.history.edit(&random) }
    _ = try run(b, a)
    #expect(b.history.rows.count == 50)
    #expect(a.history.documentsSaved + b.history.documentsSaved == 1)
  }

  @Test func aPeerThatLostItsChangesGetsThemAgain() throws {
    var random = SeededGenerator(seed: 4)
    let (a, b) = (Side(), Side())
    for _ in 0..<10 { a.history.edit(&random) }
    let old = a.history
    for _ in 0..<10 { a.history.edit(&random) }
    _ = try run(a, b)
    // The state is kept, the changes are not.
    b.progress = try SyncProgress(persisted: b.progress.persisted[...])
    b.history = old
    a.progress = try SyncProgress(persisted: a.progress.persisted[...])
    #expect(try run(a, b) < 20)
    #expect(b.history.rows.count == 20)
  }

  @Test func aStateThatIsResetKnowsWhatBothCertainlyHad() throws {
    let (a, b) = (Document(), Document()), (ofA, ofB) = (SyncState(), SyncState())
    try a.put(obj: .ROOT, key: "key", value: .Int(1))
    func sync() throws {
      var isTalking = true
      while isTalking {
        isTalking = false
        if let message = a.generateSyncMessage(state: ofB) {
          try b.receiveSyncMessage(state: ofA, message: message)
          isTalking = true
        }
        if let message = b.generateSyncMessage(state: ofA) {
          try a.receiveSyncMessage(state: ofB, message: message)
          isTalking = true
        }
      }
    }
    try sync()
    let stored = ofB.encode()
    #expect(stored != SyncState().encode() && ofB.theirHeads != nil)
    ofB.reset()
    #expect(ofB.encode() == stored && ofB.theirHeads == nil)
    try a.put(obj: .ROOT, key: "key", value: .Int(2))
    try sync()
    #expect(a.heads() == b.heads())
  }

  @Test func startingOverIsSaidOnceUntilTheyAnswer() throws {
    var random = SeededGenerator(seed: 5)
    let (a, b) = (Side(), Side())
    a.history.edit(&random)
    b.history.edit(&random)
    var message = SyncMessage()
    message.have = [SyncMessage.Have(lastSync: b.history.syncHeads)]
    try a.receive(message.encoded)
    let reset = try #require(a.generate())
    #expect(try SyncMessage(decoding: reset[...]).have == [SyncMessage.Have()])
    #expect(a.generate() == nil)
  }

  @Test func headsThatNeverComeAreAskedForButDoNoHarm() throws {
    var random = SeededGenerator(seed: 6)
    let a = Side()
    a.history.edit(&random)
    var other = FakeHistory()
    for _ in 0..<3 { other.edit(&random) }
    var message = SyncMessage()
    message.heads = other.syncHeads + other.syncHeads
    message.need = other.rows + other.rows
    message.flags = .supportsSyncReset
    try a.receive(message.encoded)
    let answer = try SyncMessage(decoding: try #require(a.generate())[...])
    #expect(answer.need == other.syncHeads)
    #expect(answer.changes.isEmpty)
    #expect(a.generate() == nil)
  }

  @Test func aReaderTakesNothingUntilItWantsTo() throws {
    var random = SeededGenerator(seed: 7)
    let (a, b) = (Side(), Side())
    a.history.edit(&random)
    b.history.edit(&random)
    a.progress.setReadOnly(true)
    #expect(try run(a, b) < 10)
    #expect(a.history.rows.count == 1)
    #expect(b.history.rows.count == 2)
    a.progress.setReadOnly(false)
    #expect(try run(a, b) < 10)
    #expect(a.history.rows.count == 2)
  }
}
