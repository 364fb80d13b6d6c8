import Automerge
import Foundation
import HostilePeers
import RepoTestSupport
import Testing

@testable import AutomergeRepo

/// What is remembered of each peer on a document, as values: when it is asked again, and who speaks for whom.
struct SyncLinkTests {
  private let ana = PeerId("ana")
  private let ben = PeerId("ben")
  private let dora = PeerId("dora")

  private func hash(_ byte: UInt8) throws -> ChangeHash {
    try #require(ChangeHash(bytes: Array(repeating: byte, count: 32)))
  }

  private func sent(_ effects: [DocumentSync.Effect]) -> [(data: Data, peer: PeerId)] {
    effects.compactMap { if case .send(.sync(let data), let peer) = $0 { (data, peer) } else { nil } }
  }

  @Test func aPeerIsAWriterOnlyByItsOwnAccess() throws {
    let document = try Document.note("start")
    var sync = DocumentSync(phase: .ready)
    _ = sync.receive(.connected(ana, access: .write), document: document)
    _ = sync.receive(.connected(ben, access: .read), document: document)
    #expect(sync.isWriter(ana) && !sync.isWriter(ben) && !sync.isWriter(dora))
    _ = sync.receive(.received(.unavailable, from: ana, access: .write), document: document)
    #expect(!sync.isWriter(ana) && !sync.isPeer(ana) && sync.isPeer(ben) && sync.writers.isEmpty)
  }

  /// The two had fallen silent, so without starting over there would be nothing to say.
  @Test func aPeerWhoseMessagesWereNotTakenIsAskedForThemAgain() throws {
    let document = try Document.note("start"), (bens, state) = (Document(), SyncState())
    var sync = DocumentSync(phase: .ready)
    var effects = sync.receive(.connected(ben, access: .write), document: document)
    #expect(!effects.isEmpty && !effects.contains(where: \.isChange))
    for _ in 0..<8 {
      for (data, _) in sent(effects) { try bens.receiveSyncMessage(state: state, message: data) }
      effects = []
      guard let data = bens.generateSyncMessage(state: state) else { break }
      effects = sync.takeIn(.received(.sync(data), from: ben, access: .write), document: document)
    }
    #expect(bens.heads() == document.heads() && sync.receive(.changed, document: document).isEmpty)
    effects = sync.receive(.missed(from: ben, access: .write), document: document)
    #expect(sent(effects).map(\.peer) == [ben] && sync.awaitingPeers.isEmpty)
  }

  /// What can be used of it is taken, and as long as he repeats the rest he is not asked for it again and again.
  @Test func aMessageOfWhichAPartIsUnusableIsRememberedAsSuch() throws {
    for bad in [[], [[1, 2, 3, 4]]] as [[[UInt8]]] {
      let document = try Document.note("start"), bens = document.fork()
      try bens.put(obj: .ROOT, key: "title", value: .String("Shopping"))
      bens.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
      let good = Array(try bens.encodeChangesSince(heads: document.heads()))
      var sync = DocumentSync(phase: .ready)
      _ = sync.receive(.connected(ben, access: .write), document: document)
      let message = HostileChanges.message(heads: bens.heads(), changes: [good] + bad)
      let effects = sync.receive(.received(.sync(message), from: ben, access: .write), document: document)
      #expect(document.heads() == bens.heads() && effects.contains(where: \.isChange))
      #expect(effects.contains { if case .refused = $0 { true } else { false } } == !bad.isEmpty)
      #expect(sync.links.first?.exchange?.hasUnusable == !bad.isEmpty)
    }
  }

  /// A large document on a slow network looks like a lost message.
  @Test func aSyncThatStandsStillIsRestartedAtGrowingIntervals() throws {
    let (ours, theirs) = (Set([try hash(1)]), Set([try hash(2)]))
    var link = SyncLink(to: ben, access: .write, shared: SyncState())
    link.heads = theirs
    let restarts = (0...16).filter { _ in link.restartIfStalled(ours: ours) }
    #expect(restarts == [1, 2, 4, 8, 16])
    // Something has moved.
    #expect(!link.restartIfStalled(ours: [try hash(3)]))
    #expect(link.restartIfStalled(ours: [try hash(3)]))
    // And now the two are equal.
    link.heads = [try hash(3)]
    #expect(!link.restartIfStalled(ours: [try hash(3)]) && link.exchange?.difference == nil)
  }

  // MARK: Peers that have left

  @Test func ofAPeerThatLeavesOftenOnlyTheLastTimeIsRemembered() {
    var departed = DepartedPeers()
    departed.add(ana, shared: Data([1]))
    departed.add(ben, shared: Data([2]))
    departed.add(ana, shared: Data([3]))
    #expect(departed.count == 2)
    for number in 2..<DepartedPeers.maximumCount { departed.add(PeerId("\(number)"), shared: Data()) }
    #expect(departed.contains(ana) && departed.contains(ben))
    departed.add(dora, shared: Data([4]))
    #expect(departed.contains(ana) && !departed.contains(ben), "he left first")
    #expect(departed.take(ana) == Data([3]) && departed.take(ana) == nil)
    #expect(departed.count == DepartedPeers.maximumCount - 1)
  }

  // MARK: Who speaks for whom

  @Test func anAuthorThatIsSilentTowardsUsIsCarriedByTheLinksThatAreNotIdle() throws {
    let document = try #require(DocumentId(bytes: Array(1...16)))
    let (local, relay, far) = (PeerId("local"), PeerId("relay"), PeerId("far"))
    var relays = Relays(document: document, local: local)
    relays.heard(Relays.Report(peers: [local, relay], idle: [local]), from: ana)
    relays.heard(Relays.Report(peers: [ana, ben, dora, local], idle: [dora]), from: relay)
    relays.heard(Relays.Report(peers: [far]), from: dora)
    #expect(relays.carries(relay, ana), "she speaks to it herself")
    #expect(relays.carries(ben, ana), "over the relay")
    #expect(!relays.carries(dora, ana) && !relays.carries(far, ana), "that link is idle")
    // As soon as she speaks to us, no peer need carry anything.
    relays.heard(Relays.Report(peers: [local, relay]), from: ana)
    #expect(!relays.carries(relay, ana) && !relays.carries(ben, ana))
  }

  @Test func whatIsWithheldStaysSoWhileNothingChangesInWhoCarriesItsAuthor() throws {
    let actor = try #require(ActorId(data: Data([1]))), own = try #require(ActorId(data: Data([9])))
    var authorship = Authorship()
    _ = authorship.receive(.claimed([actor], by: ana))
    _ = authorship.receive(.withheld([actor: try hash(7)], from: dora, own: own))
    #expect(authorship.receive(.relayed(ana, by: nil)).isEmpty, "she speaks for herself, as before")
    #expect(authorship.isWithholding(from: dora))
    #expect(authorship.receive(.relayed(ana, by: [ben])) == [.wantAgain(dora)])
    _ = authorship.receive(.withheld([actor: try hash(7)], from: dora, own: own))
    #expect(authorship.receive(.relayed(ana, by: [ben])).isEmpty, "the same again")
    #expect(authorship.isWithholding(from: dora))
  }
}
