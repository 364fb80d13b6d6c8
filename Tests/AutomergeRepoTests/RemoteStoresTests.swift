import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// What is known of the stores of peers: what is shared with them, and the heads of documents there.
@Suite struct RemoteStoresTests {
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
