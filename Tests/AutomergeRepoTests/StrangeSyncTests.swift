import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// Sync messages that can be read but that no honest peer would send.
struct StrangeSyncTests {
  private let bob = PeerId("bob")

  private func message(heads: [ChangeHash] = [], need: [ChangeHash] = []) -> Data {
    func list(_ hashes: [ChangeHash]) -> [UInt8] { [UInt8(hashes.count)] + hashes.flatMap(\.bytes) }
    return Data([0x42] + list(heads) + list(need) + [0, 0])
  }

  private func hash(_ random: inout SeededGenerator) throws -> ChangeHash {
    try #require(ChangeHash(bytes: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }))
  }

  private func isSent(_ effects: [DocumentSync.Effect]) -> Bool {
    effects.contains { if case .send = $0 { true } else { false } }
  }

  @Test func headsThatNeverComeAreAskedForAndDoNoHarm() throws {
    let seed: UInt64 = 31
    var random = SeededGenerator(seed: seed)
    let document = try Document.note("safe")
    let heads = document.heads()
    var sync = DocumentSync(phase: .ready)
    _ = sync.receive(.connected(bob, access: .write), document: document)
    for _ in 0..<1000 {
      let heads = try (0..<3).map { _ in try hash(&random) }
      let effects = sync.takeIn(.received(.sync(message(heads: heads)), from: bob, access: .write), document: document)
      #expect(isSent(effects) && effects.count == 1, "seed \(seed)")
    }
    #expect(document.heads() == heads && sync.heads(of: bob)?.count == 3)
    // Another peer gets all of it.
    let other = Document(), state = SyncState(), carol = PeerId("carol")
    var effects = sync.receive(.connected(carol, access: .write), document: document)
    for _ in 0..<6 {
      for case .send(.sync(let data), to: carol) in effects {
        try other.receiveSyncMessage(state: state, message: data)
      }
      effects = []
      if let data = other.generateSyncMessage(state: state) {
        effects = sync.takeIn(.received(.sync(data), from: carol, access: .write), document: document)
      }
    }
    #expect(other.heads() == heads)
  }

  @Test func hashesInAnyOrderAndAnyNumberAreTakenAsASet() throws {
    let document = try Document.note("safe")
    let own = try #require(document.heads().first)
    var random = SeededGenerator(seed: 32)
    let unknown = try hash(&random)
    var sync = DocumentSync(phase: .ready)
    _ = sync.receive(.connected(bob, access: .write), document: document)
    for (heads, need) in [
      ([own, unknown], []), ([unknown, own], []), ([own, own, own], []), ([unknown, unknown], [unknown, unknown]),
      ([], [own, own, unknown]), ([own], [own]),
    ] as [([ChangeHash], [ChangeHash])] {
      let data = message(heads: heads, need: need)
      let effects = sync.takeIn(.received(.sync(data), from: bob, access: .write), document: document)
      #expect(!effects.contains { if case .refused = $0 { true } else { false } })
      #expect(sync.heads(of: bob) == Set(heads))
    }
    #expect(document.heads() == [own])
  }

  /// Someone has brought more changes that know nothing of each other than a message may name.
  @Test(.enabled(if: !TestRun.isBrief, "takes long")) @AutomergeRepo func copiesWithVeryManyHeadsBecomeEqual()
    async throws
  {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 34)))
    let (ana, ben) = (world.start("a"), world.start("b"))
    let note = try ana.create(try .note("safe"))
    world.connect("a", "b")
    let copy = try #require(try await world.handle(note.id, at: "b"))
    try await world.clock.run(until: "equal") { note.inSync(with: "b") }
    try note.take(try Document.changes(onTopOf: note.document, count: 5000))
    #expect(note.document.heads().count == 5000)
    try await world.clock.run(until: "equal with many heads") { copy.document.heads() == note.document.heads() }
    // Each has something that the other lacks, and neither remembers what they last said.
    world.disconnect("a", "b")
    let base = try note.document.forkAt(heads: [try #require(note.document.getHistory().first)])
    for handle in [note, copy] { try handle.take(try Document.changes(onTopOf: base, count: 500)) }
    #expect(note.document.heads().count == 5500 && copy.document.heads().count == 5500)
    #expect(note.document.heads() != copy.document.heads())
    world.connect("a", "b")
    try await world.clock.run(until: "equal again") { copy.document.heads() == note.document.heads() }
    // It goes quiet, and with the next word there is one head.
    try await pass(.seconds(5), in: world)
    let count = world.network.deliveredCount
    try await pass(.seconds(5), in: world)
    #expect(world.network.deliveredCount == count)
    try copy.splice(0, "very ")
    try await world.clock.run(until: "one head") { note.document.heads() == copy.document.heads() }
    #expect(note.document.heads().count == 1)
    #expect(try note.document.content() == "very safe" && ana.peers.count == 1 && ben.peers.count == 1)
  }

  @AutomergeRepo
  private func pass(_ duration: Duration, in world: RepoWorld) async throws {
    var isOver = false
    world.clock.schedule(after: duration) { isOver = true }
    try await world.clock.run(until: "time has passed", horizon: duration) { isOver }
  }

  /// A peer with write access may write anything, even another note. What existed stays.
  @Test func whatWasMeantForAnotherDocumentTakesNothingAway() throws {
    let (document, other) = (try Document.note("safe"), try Document.note("other"))
    let text = try #require(try document.contentId())
    var sync = DocumentSync(phase: .ready)
    let state = SyncState()
    var effects = sync.receive(.connected(bob, access: .write), document: document)
    var count = 0
    while count < 20, let data = other.generateSyncMessage(state: state) {
      count += 1
      effects = sync.takeIn(.received(.sync(data), from: bob, access: .write), document: document)
      for case .send(.sync(let data), to: bob) in effects { try other.receiveSyncMessage(state: state, message: data) }
    }
    #expect(count < 20)
    #expect(try document.text(obj: text) == "safe")
    #expect(document.heads().isSuperset(of: other.heads()))
  }
}
