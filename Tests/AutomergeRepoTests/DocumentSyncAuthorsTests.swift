import Automerge
import Foundation
import RepoTestSupport
import Testing

@testable import AutomergeRepo

/// A document whose peers bring changes of others: when an author's own word ends the doubt.
struct DocumentSyncAuthorsTests {
  private let bob = PeerId("bob")
  private let document: Document
  private var sync = DocumentSync(phase: .ready)

  init() throws {
    document = try .note("start")
    _ = sync.receive(.connected(bob, access: .write), document: document)
  }

  private func asked(_ effects: [DocumentSync.Effect]) -> [PeerId] {
    effects.compactMap { if case .send(_, let peer) = $0 { peer } else { nil } }
  }

  /// An author comes, and Bob brings a change of hers that she has not brought yet. Returns her copy of the document.
  private mutating func withhold(_ author: String) throws -> Document {
    let hers = document.fork()
    try hers.put(obj: .ROOT, key: author, value: .String("was here"))
    hers.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    let head = try #require(hers.heads().first)
    _ = sync.receive(.connected(PeerId(author), access: .write), document: document)
    _ = sync.receive(.authorship(.claimed([hers.actor], by: PeerId(author))), document: document)
    _ = sync.receive(
      .authorship(.withheld([hers.actor: head], from: bob, own: document.actor)), document: document)
    #expect(sync.authorship.isWithholding(from: bob) && sync.actorsThatSpeak.contains(hers.actor))
    return hers
  }

  @Test mutating func whatItsAuthorBringsIsInDoubtNoMore() throws {
    let hers = try withhold("carol")
    let (state, carol) = (SyncState(), PeerId("carol"))
    for _ in 0..<4 where sync.authorship.isWithholding {
      guard let data = hers.generateSyncMessage(state: state) else { break }
      let effects = sync.takeIn(.received(.sync(data), from: carol, access: .write), document: document)
      for case .send(.sync(let data), to: carol) in effects { try hers.receiveSyncMessage(state: state, message: data) }
    }
    #expect(document.heads() == hers.heads())
    #expect(!sync.authorship.isWithholding)
    #expect(sync.receive(.authorship(.ticked), document: document).isEmpty, "she is not asked about it")
  }

  /// Her large message is still being read.
  @Test mutating func anAuthorThatBeginsToSpeakAgainIsNoLongerAbsent() throws {
    let hers = try withhold("carol")
    for _ in 0..<Authorship.silence { _ = sync.receive(.authorship(.ticked), document: document) }
    #expect(sync.actorsThatSpeak.isEmpty && !sync.authorship.isWithholding)
    let data = try #require(hers.generateSyncMessage(state: SyncState()))
    let isMessage = sync.begin(.sync(data), from: PeerId("carol"))
    #expect(isMessage && sync.actorsThatSpeak == [hers.actor])
  }

  /// The answer to the first question may have been lost, or have come before the second author left.
  @Test mutating func theOneWhoBroughtChangesIsAskedAgainForEachAuthorThatLeaves() throws {
    let authors = ["carol", "dora", "eva"]
    for author in authors { _ = try withhold(author) }
    for author in authors {
      #expect(asked(sync.receive(.disconnected(PeerId(author)), document: document)) == [bob], "\(author)")
    }
    #expect(!sync.authorship.isWithholding)
  }
}
