import Automerge
import Foundation
import RepoTestSupport
import Testing

@testable import AutomergeRepo

/// What a document says to a peer, and what it does not, while it is searched for and while access to it changes.
struct DocumentSyncTests {
  private let peer = PeerId("bob")

  private func isSent(_ effects: [DocumentSync.Effect]) -> Bool {
    effects.contains { if case .send = $0 { true } else { false } }
  }

  /// Changes the document, so that there would be something to say.
  private func change(_ document: Document) throws {
    try document.put(obj: .ROOT, key: "title", value: .String("Shopping"))
    document.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
  }

  @Test func aPeerWithMoreAccessIsToldOfTheDocument() throws {
    let document = try Document.note("start")
    var sync = DocumentSync(phase: .ready)
    _ = sync.receive(.connected(peer, access: .read), document: document)
    try change(document)
    #expect(isSent(sync.receive(.accessChanged(peer, .write), document: document)))
    #expect(!isSent(sync.receive(.accessChanged(peer, .write), document: document)), "nothing has changed")
    #expect(sync.isWriter(peer))
  }

  @Test func aPeerThatLacksTheDocumentIsNotToldOfItForItsAccess() throws {
    let document = try Document.note("start")
    var sync = DocumentSync(phase: .ready)
    _ = sync.receive(.connected(peer, access: .read), document: document)
    _ = sync.receive(.received(.unavailable, from: peer, access: .read), document: document)
    try change(document)
    #expect(!isSent(sync.receive(.accessChanged(peer, .write), document: document)))
  }

  @Test func aPeerThatLacksTheDocumentIsNotOnIt() throws {
    let document = try Document.note("start"), other = PeerId("cleo")
    var sync = DocumentSync(phase: .ready)
    for peer in [peer, other] { _ = sync.receive(.connected(peer, access: .write), document: document) }
    _ = sync.receive(.received(.unavailable, from: peer, access: .write), document: document)
    #expect(!sync.isPeer(peer) && !sync.isWriter(peer))
    #expect(sync.isPeer(other) && sync.isWriter(other))
    #expect(!sync.isPeer(PeerId("dora")) && !sync.isWriter(PeerId("dora")))
    #expect(sync.peers == [other] && sync.writers == [other])
  }

  @Test func nothingIsSaidOfADocumentThatIsStillSearchedFor() throws {
    let document = Document()
    var sync = DocumentSync(phase: .searching)
    #expect(isSent(sync.receive(.connected(peer, access: .read), document: document)))
    try change(document)
    #expect(!isSent(sync.receive(.accessChanged(peer, .write), document: document)))
  }

  @Test func ofPeersThatHaveGoneTheLatestAreRemembered() throws {
    let document = try Document.note("start")
    var sync = DocumentSync(phase: .ready)
    for number in 0..<1000 {
      let peer = PeerId("mal-\(number)")
      _ = sync.receive(.connected(peer, access: .write), document: document)
      _ = sync.receive(.disconnected(peer), document: document)
    }
    #expect(sync.departed.count == DepartedPeers.maximumCount)
    #expect(sync.departed.contains(PeerId("mal-999")) && !sync.departed.contains(PeerId("mal-0")))
    // One that returns is no longer among them.
    _ = sync.receive(.connected(PeerId("mal-999"), access: .write), document: document)
    #expect(sync.departed.count == DepartedPeers.maximumCount - 1)
  }

  @Test func whatAnUnreadableMessageAnnouncedIsForgotten() throws {
    let theirs = try Document.note("milk")
    var sync = DocumentSync(phase: .ready)
    let data = try #require(theirs.generateSyncMessage(state: SyncState()))
    _ = sync.begin(.sync(data), from: peer)
    #expect(sync.links.first?.announced?.heads == theirs.heads())
    #expect(sync.links.first?.announced?.changeCount == theirs.changeCount)
    _ = sync.malformed(from: peer)
    #expect(sync.links.count == 1 && sync.links.first?.announced == nil)
    // Or the peer may no longer write, so the message is not read to its end.
    _ = sync.begin(.sync(data), from: peer)
    #expect(sync.links.first?.announced != nil)
    _ = sync.receive(.accessChanged(peer, .read), document: Document())
    #expect(sync.links.count == 1 && sync.links.first?.announced == nil)
  }

  @Test func aPeerThatHasNotAskedIsNotToldThatTheSearchHasFailed() throws {
    let document = Document()
    var sync = DocumentSync(phase: .searching)
    let data = try #require(document.generateSyncMessage(state: SyncState()))
    // A large message without heads of its own, of a peer that was not there.
    let isMessage = sync.begin(.sync(data), from: peer)
    let effects = sync.receive(.asked, document: document)
    #expect(isMessage && effects.contains { if case .notFound = $0 { true } else { false } })
    #expect(!isSent(effects) && sync.awaitingPeers.isEmpty)
  }
}
