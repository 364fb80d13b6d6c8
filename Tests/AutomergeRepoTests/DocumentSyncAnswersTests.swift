import Automerge
import Foundation
import HostilePeers
import RepoTestSupport
import Testing

@testable import AutomergeRepo

/// Who is answered what, and how often.
struct DocumentSyncAnswersTests {
  private let ana = PeerId("ana")
  private let ben = PeerId("ben")

  private func sent(_ effects: [DocumentSync.Effect]) -> [PeerId] {
    effects.compactMap { if case .send(_, let peer) = $0 { peer } else { nil } }
  }

  private func hasFailed(_ effects: [DocumentSync.Effect]) -> Bool {
    effects.contains { if case .notFound = $0 { true } else { false } }
  }

  @Test func aPeerIsToldOnceThatTheSearchHasFailed() throws {
    let document = Document()
    var sync = DocumentSync(phase: .searching)
    _ = sync.receive(.connected(ana, access: .write), document: document)
    let data = try #require(Document().generateSyncMessage(state: SyncState()))
    #expect(sent(sync.receive(.received(.request(data), from: ben, access: .write), document: document)).isEmpty)
    _ = sync.receive(.asked, document: document)
    #expect(sync.awaitingPeers == [ben])
    let effects = sync.receive(.received(.unavailable, from: ana, access: .write), document: document)
    #expect(sent(effects) == [ben] && hasFailed(effects))
    #expect(sent(sync.receive(.disconnected(ana), document: document)).isEmpty && sync.awaitingPeers.isEmpty)
  }

  /// What it has asked is not known, but it waits for an answer.
  @Test func aPeerWhoseMessagesWereNotTakenIsToldThatTheSearchHasFailed() {
    let document = Document()
    var sync = DocumentSync(phase: .searching)
    _ = sync.receive(.connected(ana, access: .write), document: document)
    for peer in [ana, ben] { _ = sync.receive(.missed(from: peer, access: .write), document: document) }
    #expect(sync.awaitingPeers == [ben], "Ana has not answered yet")
    #expect(!hasFailed(sync.receive(.asked, document: document)))
    let effects = sync.receive(.disconnected(ana), document: document)
    #expect(sent(effects) == [ben] && hasFailed(effects))
  }

  /// What the two had in common then may be gone from the document.
  @Test func whatWasSharedWithAPeerThatHasLeftIsForgottenWhenTheDocumentReturnsToAnEarlierState() throws {
    let earlier = try Document.note("start")
    let document = earlier.fork()
    try document.put(obj: .ROOT, key: "title", value: .String("Shopping"))
    document.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    let (bens, state) = (Document(), SyncState())
    var sync = DocumentSync(phase: .ready)
    func first(_ effects: [DocumentSync.Effect]) throws -> Data {
      try #require(effects.compactMap { if case .send(.sync(let data), _) = $0 { data } else { nil } }.first)
    }
    var effects = sync.receive(.connected(ben, access: .write), document: document)
    for _ in 0..<8 {
      for case .send(.sync(let data), _) in effects { try bens.receiveSyncMessage(state: state, message: data) }
      effects = []
      guard let data = bens.generateSyncMessage(state: state) else { break }
      effects = sync.takeIn(.received(.sync(data), from: ben, access: .write), document: document)
    }
    #expect(bens.heads() == document.heads())
    _ = sync.receive(.disconnected(ben), document: document)
    // As long as nothing is taken back, only what is new is described.
    var other = sync
    let resumed = try first(other.receive(.connected(ben, access: .write), document: document))
    #expect(try #require(SyncHeader(resumed)).senderChangeCount == nil)
    _ = sync.receive(.rewound, document: earlier)
    let fresh = try first(sync.receive(.connected(ben, access: .write), document: earlier))
    #expect(try #require(SyncHeader(fresh)).senderChangeCount == earlier.changeCount)
  }

  /// Otherwise the two would go on forever, as fast as the network allows.
  @Test func aPeerThatBringsUnreadableChangesAgainAndAgainIsAskedForThemOnce() throws {
    let document = try Document.note("start"), heads = try missing
    let bad = HostileChanges.message(heads: heads, changes: [[1, 2, 3, 4]])
    let empty = HostileChanges.message(heads: heads, changes: [])
    var sync = DocumentSync(phase: .ready)
    _ = sync.receive(.connected(ben, access: .write), document: document)
    var askedCount = 0
    for _ in 0..<4 {
      let isMessage = sync.begin(.sync(bad), from: ben)
      #expect(isMessage)
      let incoming = try IncomingMessage(bad, known: document.getHistory())
      #expect(incoming.nextPortion() == nil)
      let effects = sync.finish(
        incoming, .sync(bad), filter: sync.filter(for: ben, document), from: ben, access: .write,
        since: document.heads(), document)
      #expect(sent(effects).isEmpty && isRefused(effects))
      askedCount += sent(sync.receive(.received(.sync(empty), from: ben, access: .write), document: document)).count
    }
    #expect(askedCount == 1)
  }

  /// The same, if some of what it brings is good.
  @Test func aPeerThatBringsGoodChangesWithBadOnesIsAskedForTheRestOnce() throws {
    let document = try Document.note("start")
    let good = Array(try document.encodeChangesSince(heads: []))
    let bad = good.dropLast() + [good[good.count - 1] ^ 1]
    let message = HostileChanges.message(heads: try missing, changes: [good, Array(bad)])
    var sync = DocumentSync(phase: .ready)
    _ = sync.receive(.connected(ben, access: .write), document: document)
    var askedCount = 0
    for _ in 0..<4 {
      let effects = sync.takeIn(.received(.sync(message), from: ben, access: .write), document: document)
      #expect(isRefused(effects))
      askedCount += sent(effects).count
    }
    #expect(askedCount == 1)
  }

  /// Heads that no peer has.
  private var missing: Set<ChangeHash> {
    get throws { [try #require(ChangeHash(bytes: Array(repeating: 7, count: 32)))] }
  }

  private func isRefused(_ effects: [DocumentSync.Effect]) -> Bool {
    effects.contains { if case .refused(ben, .rejected) = $0 { true } else { false } }
  }
}
