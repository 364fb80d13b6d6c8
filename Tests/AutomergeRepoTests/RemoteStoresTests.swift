import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// What is known of the stores of peers: what is shared with them, and the heads of documents there.
struct RemoteStoresTests {
  /// Three peers in a row, `a`, `b`, `c`, of which each tells its store's id.
  @AutomergeRepo
  private func row(seed: UInt64) async throws -> RepoWorld {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
    for name in ["a", "b", "c"] { try await start(name, in: world) }
    world.connect("a", "b")
    world.connect("b", "c")
    return world
  }

  @AutomergeRepo
  private func start(_ name: String, in world: RepoWorld) async throws {
    let repo = world.start(name, metadata: PeerMetadata(name: name, storageId: StorageId("store-\(name)")))
    #expect(repo.metadata.storageId == StorageId("store-\(name)"))
  }

  @Test @AutomergeRepo func headsOfAStoreTwoPeersAwayAreHeard() async throws {
    let world = try await row(seed: 1)
    let ana = try #require(world.repos["a"])
    let far = StorageId("store-c")
    ana.subscribeToRemotes([far])
    let note = try ana.create(try .note("x"))
    #expect(try await world.handle(note.id, at: "c") != nil)
    try await world.clock.run(until: "heard") { ana.remoteHeads(of: note.id, in: far)?.heads == note.document.heads() }
    try note.splice(0, "more ")
    try await world.clock.run(until: "heard again") {
      ana.remoteHeads(of: note.id, in: far)?.heads == note.document.heads()
    }
    // No peer asked for this one.
    #expect(ana.remoteHeads(of: note.id, in: StorageId("store-b")) == nil)
  }

  @Test @AutomergeRepo func aPeerWithoutAccessHearsNothing() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 2)))
    let policy = SharePolicy(
      announce: { _, peer in peer.id != "a" }, access: { _, peer in peer.id == "a" ? .none : .write })
    world.start("b", policy: policy)
    try await start("a", in: world)
    try await start("c", in: world)
    world.connect("a", "b")
    world.connect("b", "c")
    let ana = try #require(world.repos["a"])
    ana.subscribeToRemotes([StorageId("store-c")])
    let note = try #require(world.repos["c"]).create(try .note("x"))
    #expect(try await world.handle(note.id, at: "b") != nil)
    try await world.clock.run(until: "told to b") {
      world.repos["b"]?.remoteHeads(of: note.id, in: StorageId("store-c")) != nil
    }
    world.clock.advance(by: .seconds(1))
    #expect(ana.remoteHeads(of: note.id, in: StorageId("store-c")) == nil)
  }

  /// A policy that lists what is shared with each peer.
  private final class Lists: ShareAuthorizing {
    var documents: [PeerId: [DocumentId]] = [:]

    nonisolated init() {}

    func announce(_ document: DocumentId, to peer: PeerId) -> Bool { access(document, for: peer) > .none }
    func access(_ document: DocumentId, for peer: PeerId) -> Access {
      documents[peer]?.contains(document) == true ? .write : .none
    }
    func documents(sharedWith peer: PeerId) -> [DocumentId]? { documents[peer] ?? [] }
  }

  private static let subscription = "remote-subscription-change"

  /// Counts the subscriptions that a peer sends to others.
  @AutomergeRepo
  private final class Told {
    private(set) var count = 0
    /// How many stores each receiver has been told to add, less those that it was told to remove.
    private(set) var stores: [PeerId: Int] = [:]

    init(by peer: PeerId, in world: RepoWorld) {
      world.network.onDelivery = { message, sender, receiver in
        guard sender == peer, case .other(RemoteStoresTests.subscription, let fields) = message else { return }
        self.count += 1
        let change = (fields["add"]?.array?.count ?? 0) - (fields["remove"]?.array?.count ?? 0)
        self.stores[receiver, default: 0] += change
      }
    }
  }

  @Test @AutomergeRepo func noPeerIsToldOfASubscriptionOfOneWithWhichNothingIsShared() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 4)))
    let policy = Lists()
    let ben = world.start("b", policy: policy)
    for name in ["a", "c"] { try await start(name, in: world) }
    let note = try ben.create(try .note("x"))
    policy.documents["c"] = [note.id]
    world.connect("a", "b")
    world.connect("b", "c")
    let told = Told(by: "b", in: world)
    try #require(world.repos["a"]).subscribeToRemotes([StorageId("far")])
    world.clock.advance(by: .seconds(5))
    #expect(told.count == 0 && ben.remotes.heads.subscriptions.isEmpty)
    // As soon as there is something to share, the subscription counts, and when there is nothing any more, it ends.
    policy.documents["a"] = [note.id]
    ben.policyChanged(for: note.id)
    try await world.clock.run(until: "passed on") { told.stores == ["c": 1] }
    policy.documents["a"] = nil
    ben.policyChanged(for: note.id)
    try await world.clock.run(until: "ended") { told.stores == ["c": 0] }
    #expect(ben.remotes.heads.subscriptions.isEmpty)
  }

  /// People who are linked in a ring would otherwise keep a subscription for one another.
  @Test @AutomergeRepo func aRingOfPeopleIsEmptyAgainWhenASubscriberHasLeft() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 5)))
    world.network.proof = { peer in .key(fingerprint: Array(peer.description.utf8)) }
    for name in ["a", "b", "c", "x", "y"] { try await start(name, in: world) }
    for (one, other) in [("a", "b"), ("b", "c"), ("c", "a"), ("x", "a")] { world.connect(one, other) }
    try #require(world.repos["x"]).subscribeToRemotes(Set((0..<256).map { StorageId("far-\($0)") }))
    world.clock.advance(by: .seconds(5))
    let ana = try #require(world.repos["a"])
    #expect(ana.remotes.heads.subscriptions.followed.count == 256)
    world.disconnect("x", "a")
    world.clock.advance(by: .seconds(5))
    #expect(ana.remotes.heads.subscriptions.isEmpty)
    for name in ["a", "b", "c"] {
      let told = Told(by: PeerId(name), in: world)
      world.connect(name, "y")
      world.clock.advance(by: .seconds(5))
      #expect(told.count == 0, "\(name) still follows what the one that left had subscribed to")
    }
    // What the program itself follows is told.
    let told = Told(by: "b", in: world)
    try #require(world.repos["b"]).subscribeToRemotes([StorageId("store-a")])
    try await world.clock.run(until: "told") { told.stores == ["a": 1, "c": 1, "y": 1] }
  }

  /// What the subscriptions of many peers cost does not grow with how often each of them is changed.
  @Test(.enabled(if: !TestRun.isBrief, "takes long")) @AutomergeRepo
  func peersThatChangeTheirSubscriptionsAllTheTimeAreHeardOncePerSecond() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 6)))
    let names = (0..<32).map { "p\($0)" }
    for name in ["a"] + names { try await start(name, in: world) }
    for name in names { world.connect("a", name) }
    let told = Told(by: "a", in: world)
    func change(_ name: String, adding added: some Sequence<Int>, removing removed: some Sequence<Int>) {
      func list(_ numbers: some Sequence<Int>) -> CBOR { .array(numbers.map { .text("\(name)-\($0)") }) }
      world.repos[name]?.send(
        type: Self.subscription, fields: ["add": list(added), "remove": list(removed)], to: "a")
    }
    for name in names {
      for part in 0..<8 { change(name, adding: part * 32..<part * 32 + 32, removing: []) }
    }
    let seconds = 3
    for round in 0..<seconds * 10 {
      for name in names { change(name, adding: [256 + round], removing: [round]) }
      world.clock.advance(by: .milliseconds(100))
    }
    // Never more than all of the stores that one peer is told of, off and on.
    let perSecond = names.count * StoreSubscriptions.maximumCount / RemoteHeadsMessage.maximumStores
    #expect(told.count <= perSecond * (seconds + 1), "\(told.count) messages")
    #expect(told.stores.values.allSatisfy { $0 == StoreSubscriptions.maximumCount })
    // When all have left, nothing is kept.
    for name in names.dropFirst() { world.disconnect("a", name) }
    world.clock.advance(by: .seconds(2))
    #expect(told.stores["p0"] == 0)
  }

  @Test @AutomergeRepo func whatWasSharedIsKnownAfterARestart() async throws {
    let world = try await row(seed: 3)
    let note = try #require(world.repos["a"]).create(try .note(String(repeating: "words ", count: 100)))
    let other = try #require(try await world.handle(note.id, at: "b"))
    for number in 0..<50 { try note.splice(number, "x") }
    try await world.clock.run(until: "equal") { note.inSync(with: "b") && other.inSync(with: "a") }
    try await world.flush("a")
    let key = SyncStates.prefix(note.id) + ["store-b"]
    let disk = try #require(world.stores["a"])
    var row: Data?
    try await world.clock.run(until: "written") {
      Task { @AutomergeRepo in row = try? await disk.load(key) }
      return row != nil && row == note.sync.index(of: "b").map { note.sync.links[$0].shared.encode() }
    }
    world.crash("a")
    try await start("a", in: world)
    let again = try #require(try await world.handle(note.id, at: "a"))
    world.connect("a", "b")
    let link = try #require(again.sync.index(of: "b").map { again.sync.links[$0] })
    #expect(link.shared.encode() == row)
    #expect(row != SyncState().encode())
    try again.splice(0, "new ")
    try await world.clock.run(until: "equal again") { other.document.heads() == again.document.heads() }
  }

  @Test func messagesAreAutomergeRepos() throws {
    let id = DocumentId()
    let messages: [RemoteHeadsMessage] = [
      .subscription(add: [StorageId("one"), StorageId("two")], remove: []),
      .subscription(add: [], remove: [StorageId("x")]),
      .changed(id, [StorageId("one"): (heads: [], milliseconds: 1_700_000_000_000)]),
    ]
    for message in messages {
      #expect(RemoteHeadsMessage(type: message.type, fields: message.fields) == message)
    }
    // JavaScript writes numbers as floats, and `undefined` for a list that is missing.
    let fields: [String: CBOR] = ["add": .array(["one"]), "remove": .undefined]
    #expect(
      RemoteHeadsMessage(type: "remote-subscription-change", fields: fields)
        == .subscription(add: [StorageId("one")], remove: []))
    let odd: [String: CBOR] = [
      "documentId": .text(id.description),
      "newHeads": .record([
        "one": .record(["heads": .array([]), "timestamp": .float(5)]), "bad": .record(["heads": 1]),
      ]),
    ]
    #expect(
      RemoteHeadsMessage(type: "remote-heads-changed", fields: odd)
        == .changed(id, [StorageId("one"): (heads: [], milliseconds: 5)]))
    #expect(RemoteHeadsMessage(type: "remote-heads-changed", fields: [:]) == nil)
  }
}
