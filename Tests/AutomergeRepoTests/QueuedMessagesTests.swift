import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// What peers send about a document while the store is being read.
struct QueuedMessagesTests {
  /// Lets every peer that knows a document write to it, and announces none.
  private final class Silent: ShareAuthorizing {
    func announce(_ document: DocumentId, to peer: PeerId) -> Bool { false }
    func access(_ document: DocumentId, for peer: PeerId) -> Access { .write }
  }

  /// A connected peer that sends what the test wants, and records the answers.
  @AutomergeRepo
  private final class Client: NetworkDelegate {
    let id: PeerId
    let provider: SimulatedProvider
    private(set) var answers: [RepoMessage.Content] = []

    init(_ name: String, in world: RepoWorld) {
      (id, provider) = (PeerId(name), world.network.provider())
      provider.start(as: LocalPeer(peerId: id), delegate: self)
      world.network.connect(PeerId("a"), id)
    }

    func ask(for document: DocumentId) throws {
      let data = try #require(Document().generateSyncMessage(state: SyncState()))
      provider.send(
        .document(.init(senderId: id, targetId: PeerId("a"), documentId: document, content: .request(data))),
        to: PeerId("a"))
    }

    func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {}
    func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {}
    func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
      if case .document(let message) = message { answers.append(message.content) }
    }
  }

  /// A repo that has just been started, has a note in its store, and waits for the store.
  @AutomergeRepo
  private func waiting() async throws -> (world: RepoWorld, note: DocumentId) {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 31)))
    let note = try world.start("a").create(try .note("stored")).id
    try await world.flush("a")
    world.crash("a")
    world.start("a", policy: Silent())
    world.stores["a"]?.holdLoads()
    return (world, note)
  }

  /// Makes so many changes, each of which goes to "a" by itself.
  @AutomergeRepo
  private func type(_ count: Int, into copy: DocHandle, in world: RepoWorld) async throws {
    var sentCount = 0
    world.network.onDelivery = { message, _, receiver in
      if case .document = message, receiver == PeerId("a") { sentCount += 1 }
    }
    for number in 0..<count {
      try copy.splice(0, "\(number) ")
      let before = sentCount
      try await world.clock.run(until: "it is sent", horizon: .milliseconds(200)) { sentCount > before }
    }
  }

  private enum Place: CaseIterable { case stored, nowhere, unreadable }

  @Test(.enabled(if: !TestRun.isBrief, "takes long"), arguments: Place.allCases) @AutomergeRepo
  private func eachOfManyPeersGetsAnAnswer(place: Place) async throws {
    let (world, note) = try await waiting()
    let id = place == .nowhere ? try #require(DocumentId(bytes: Array(1...16))) : note
    let flood = Client("flood", in: world)
    for _ in 0..<300 { try flood.ask(for: id) }
    try await world.clock.run(until: "the flood has come") { world.network.deliveredCount == 300 }
    let clients = (0..<300).map { Client("client-\($0)", in: world) }
    for client in clients { for _ in 0..<2 { try client.ask(for: id) } }
    try await world.clock.run(until: "all have asked") { world.network.deliveredCount == 900 }
    #expect(!clients.contains { !$0.answers.isEmpty })
    if place == .unreadable { world.stores["a"]?.failLoads(true) }
    world.stores["a"]?.goOnLoading()
    try await world.clock.run(until: "all have an answer") {
      ([flood] + clients).allSatisfy { !$0.answers.isEmpty }
    }
    for client in [flood] + clients {
      let hasDocument = client.answers.contains { if case .sync = $0 { true } else { false } }
      #expect(hasDocument == (place == .stored), "\(client.id)")
    }
  }

  /// The peer counts them as sent.
  @Test @AutomergeRepo func whatAPeerTypesWhileAReleasedDocumentIsLoadedArrivesAtOnce() async throws {
    let (world, note) = try await waiting()
    world.start("b")
    world.stores["a"]?.goOnLoading()
    world.connect("a", "b")
    let copy = try #require(try await world.handle(note, at: "b")), repo = try #require(world.repos["a"])
    world.clock.advance(by: .seconds(5))
    try await world.flush("a")
    world.clock.advance(by: .seconds(5))
    #expect(repo.release(note))
    world.stores["a"]?.holdLoads()
    try await type(66, into: copy, in: world)
    #expect(repo.entries[note]?.queued.missed == [PeerId("b")])
    world.stores["a"]?.goOnLoading()
    try await world.clock.run(until: "all of it is here", horizon: .seconds(5)) {
      repo.handle(of: note)?.document.heads() == copy.document.heads()
    }
  }

  /// Its first message alone says what it has.
  @Test @AutomergeRepo func whatAPeerWroteMeanwhileArrivesThoughItSentMoreThanCanWait() async throws {
    let (world, note) = try await waiting()
    let other = world.start("b")
    world.stores["a"]?.goOnLoading()
    world.connect("a", "b")
    let copy = try #require(try await world.handle(note, at: "b"))
    // The document leaves the memory of "a", and "b" does not know.
    world.disconnect("a", "b")
    world.crash("a")
    let repo = world.start("a", policy: Silent())
    world.stores["a"]?.holdLoads()
    world.connect("a", "b")
    try await type(200, into: copy, in: world)
    #expect(other.handle(of: note) === copy)
    #expect(repo.entries[note]?.queued.missed == [PeerId("b")])
    world.stores["a"]?.goOnLoading()
    try await world.clock.run(until: "all of it is here") {
      repo.handle(of: note)?.document.heads() == copy.document.heads()
    }
  }

  @Test @AutomergeRepo func whatWaitsForADocumentThatIsDeletedMeanwhileIsAnswered() async throws {
    let (world, note) = try await waiting()
    let client = Client("client", in: world)
    try client.ask(for: note)
    try await world.clock.run(until: "it has asked") { world.network.deliveredCount == 1 }
    let repo = try #require(world.repos["a"])
    Task { try await repo.delete(id: note) }
    try await world.clock.run(until: "it is answered") { client.answers == [.unavailable] }
    world.stores["a"]?.goOnLoading()
  }

  // MARK: Their bytes

  /// Brings messages from peers, and records from which of them it may read.
  @AutomergeRepo
  private final class Gate: NetworkProvider {
    private weak var delegate: (any NetworkDelegate)?
    private(set) var paused: Set<PeerId> = []
    private(set) var connected: Set<PeerId> = []

    func start(as local: LocalPeer, delegate: any NetworkDelegate) { self.delegate = delegate }
    func stop() {}
    func send(_ message: RepoMessage, to peer: PeerId) {}

    func connect(_ peer: PeerId) {
      connected.insert(peer)
      delegate?.network(self, connected: peer, metadata: PeerMetadata())
    }

    func disconnect(_ peer: PeerId) {
      connected.remove(peer)
      paused.remove(peer)
      delegate?.network(self, disconnected: peer)
    }

    func setReading(_ reads: Bool, from peer: PeerId) {
      if reads { paused.remove(peer) } else { paused.insert(peer) }
    }

    func receive(_ data: Data, on document: DocumentId, from peer: PeerId) {
      receive(.sync(data), on: document, from: peer)
    }

    func receive(_ content: RepoMessage.Content, on document: DocumentId, from peer: PeerId) {
      delegate?.network(
        self,
        received: .document(
          .init(senderId: peer, targetId: PeerId("a"), documentId: document, content: content)), from: peer)
    }
  }

  private func id(_ number: UInt8) throws -> DocumentId {
    try #require(DocumentId(bytes: Array(repeating: number, count: 16)))
  }

  @Test @AutomergeRepo func nothingIsReadFromAPeerWhileMuchOfItWaitsForDocuments() async throws {
    let (world, _) = try await waiting()
    let (gate, mal) = (Gate(), PeerId("mal"))
    let repo = try #require(world.repos["a"])
    repo.add(gate)
    gate.connect(mal)
    let data = Data(count: 600 << 10)
    for number in 1...2 { gate.receive(data, on: try id(UInt8(number)), from: mal) }
    #expect(gate.paused == [mal])
    // What it has sent goes with its connection.
    gate.disconnect(mal)
    #expect(!repo.entries.all.contains { !$0.queued.messages.isEmpty })
    gate.connect(mal)
    gate.receive(data, on: try id(1), from: mal)
    #expect(gate.paused.isEmpty)
    gate.receive(data, on: try id(2), from: mal)
    #expect(gate.paused == [mal])
    world.stores["a"]?.goOnLoading()
    try await world.clock.run(until: "it is read again") { gate.paused.isEmpty }
    #expect(gate.connected == [mal])
  }

  @Test @AutomergeRepo func whatWaitsOfAllPeersForDocumentsIsLimited() async throws {
    let (world, _) = try await waiting()
    let (gate, peers) = (Gate(), ["ben", "eva", "mal"].map { PeerId($0) })
    let repo = try #require(world.repos["a"])
    repo.add(gate)
    let data = Data(count: PeerConnections.maximumWaitingBytesOfAll / 5 * 2)
    for (number, peer) in peers.enumerated() {
      gate.connect(peer)
      gate.receive(data, on: try id(UInt8(number)), from: peer)
    }
    #expect(gate.connected.count == 2)
    #expect(repo.entries.all.reduce(0) { $0 + $1.queued.messages.count } == 2)
    world.stores["a"]?.goOnLoading()
    try await world.clock.run(until: "the others are read again") { gate.paused.isEmpty }
    #expect(gate.connected.count == 2)
  }

  /// A million of them would need little more than a megabyte of the network, and much more memory and time here.
  @Test(arguments: [RepoMessage.Content.sync(Data([0])), .unavailable]) @AutomergeRepo
  func shortMessagesThatWaitBehindALargeOneCountToo(content: RepoMessage.Content) async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 32)))
    let repo = world.start("a", policy: Silent())
    let note = try repo.create(try .note("text"))
    let (gate, mal) = (Gate(), PeerId("mal"))
    repo.add(gate)
    gate.connect(mal)
    gate.receive(Data(count: 33 << 10), on: note.id, from: mal)
    #expect(!note.incoming.isEmpty)
    var shortCount = 0
    while gate.paused.isEmpty, shortCount < 1 << 14 {
      gate.receive(content, on: note.id, from: mal)
      shortCount += 1
    }
    #expect(gate.paused == [mal] && shortCount < 1 << 13)
    try await world.clock.run(until: "all are handled") { note.incoming.isEmpty }
    #expect(gate.paused.isEmpty)
    // Nothing is left of what was counted.
    gate.receive(Data(count: 1000 << 10), on: note.id, from: mal)
    #expect(gate.paused.isEmpty)
  }
}
