import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// Sync messages that can be read but that no honest peer would send.
@Suite struct StrangeSyncTests {
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
