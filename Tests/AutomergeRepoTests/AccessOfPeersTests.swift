import Automerge
import Foundation
import RepoTestSupport
import Testing

@testable import AutomergeRepo

/// What a document says to a peer whose access to it changes.
@Suite struct AccessOfPeersTests {
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

  @Test func nothingIsSaidOfADocumentThatIsStillSearchedFor() throws {
    let document = Document()
    var sync = DocumentSync(phase: .searching)
    #expect(isSent(sync.receive(.connected(peer, access: .read), document: document)))
    try change(document)
    #expect(!isSent(sync.receive(.accessChanged(peer, .write), document: document)))
  }
}
