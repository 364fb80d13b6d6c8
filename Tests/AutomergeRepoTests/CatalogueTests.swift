import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// Peers that share many documents and have hardly any of them in memory.
struct CatalogueTests {
  private func heads(_ seed: UInt64) throws -> Set<ChangeHash> {
    var random = SeededGenerator(seed: seed)
    return [try #require(ChangeHash(bytes: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }))]
  }

  @Test func catalogueFindsExactlyWhatDiffers() throws {
    var random = SeededGenerator(seed: 1)
    var (ours, theirs) = (Catalogue(), Catalogue())
    let documents = (0..<1000).map { _ in DocumentId.random(using: &random) }
    for (index, document) in documents.enumerated() {
      let heads = try heads(UInt64(index))
      ours.add(document, heads, hash: Catalogue.hash(document, heads))
      let other = index == 500 ? try self.heads(9999) : heads
      theirs.add(document, other, hash: Catalogue.hash(document, other))
    }
    #expect(ours.digest != theirs.digest)
    let found = ours.documents(differingFrom: theirs.buckets)
    #expect(found.contains(documents[500]))
    #expect(found.count < 20, "one bucket's worth")
    #expect(ours.documents(differingFrom: ours.buckets).isEmpty)
    #expect(ours.documents(differingFrom: Data([1, 2])).count == 1000)
  }

  @Test func orderDoesNotMatterAndRepetitionNeither() throws {
    var random = SeededGenerator(seed: 2)
    let documents = (0..<100).map { _ in DocumentId.random(using: &random) }
    let entries = try documents.enumerated().map { ($1, try heads(UInt64($0))) }
    var (forward, backward) = (Catalogue(), Catalogue())
    for (document, heads) in entries { forward.add(document, heads, hash: Catalogue.hash(document, heads)) }
    for (document, heads) in entries.reversed() + entries {
      backward.add(document, heads, hash: Catalogue.hash(document, heads))
    }
    #expect(forward.digest == backward.digest)
  }

  @Test func storedHeadsAreReadAsTheyWereWritten() throws {
    let both = try heads(1).union(heads(2))
    #expect(StoredHeads.decode(StoredHeads.encode(both)) == both)
    #expect(StoredHeads.decode(Data()) == [])
    #expect(StoredHeads.decode(Data(count: 31)) == nil)
    #expect(StoredHeads.decode(Data(count: 32 * (StoredHeads.maximumHeads + 1))) == nil)
  }

  /// Two peers that have `count` documents in common, stored and not in memory.
  @AutomergeRepo
  private func twoWithStores(_ count: Int, seed: UInt64) async throws -> (RepoWorld, [DocumentId]) {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
    for name in ["a", "b"] { world.start(name) }
    world.connect("a", "b")
    let a = try #require(world.repos["a"])
    let ids = try (0..<count).map { try a.create(try .note("note \($0)")).id }
    try await world.clock.run(until: "b has them all", horizon: .seconds(60)) {
      ids.allSatisfy { world.repos["b"]?.handle(of: $0) != nil }
    }
    for name in ["a", "b"] { try await world.flush(name) }
    return (world, ids)
  }

  @Test @AutomergeRepo func reconnectingWithManyUnchangedDocumentsCostsOneMessageEachWay() async throws {
    let (world, ids) = try await twoWithStores(60, seed: 3)
    for name in ["a", "b"] {
      world.crash(name)
      world.start(name)
    }
    var messages: [RepoMessage] = []
    world.network.onDelivery = { message, _, _ in messages.append(message) }
    world.connect("a", "b")
    try await world.clock.run(until: "both have said what they have") { messages.count >= 2 }
    world.clock.advance(by: .seconds(10))
    #expect(messages.count == 2)
    #expect(messages.allSatisfy { if case .other("catalogue", _) = $0 { true } else { false } })
    #expect(messages.map { $0.encoded().count }.max() ?? 0 < 200)
    #expect(world.repos["a"]?.handle(of: ids[0]) == nil, "nothing had to be loaded")
    // Later looks are silent.
    for _ in 0..<5 {
      for repo in world.repos.values { repo.checkForStalls() }
      world.clock.advance(by: .seconds(30))
    }
    #expect(messages.count == 2)
  }

  @Test @AutomergeRepo func whatChangedMeanwhileIsFoundWithoutOpeningTheRest() async throws {
    let (world, ids) = try await twoWithStores(60, seed: 4)
    world.crash("b")
    let a = try #require(world.repos["a"])
    try #require(a.handle(of: ids[7])).splice(0, "changed ")
    try await world.flush("a")
    world.crash("a")
    for name in ["a", "b"] { world.start(name) }
    world.connect("a", "b")
    try await world.clock.run(until: "b has the change") {
      (try? world.repos["b"]?.handle(of: ids[7])?.document.content()) == "changed note 7"
    }
    world.clock.advance(by: .seconds(2))
    let opened = ids.count { world.repos["b"]?.handle(of: $0) != nil }
    #expect(opened < 5, "only what shares a bucket with it may be looked at")
  }

  @Test @AutomergeRepo func nonsenseAboutCataloguesDoesNoHarm() async throws {
    let (world, ids) = try await twoWithStores(3, seed: 5)
    let bad = world.network.provider()
    let sink = Silent()
    bad.start(as: LocalPeer(peerId: PeerId("bad")), delegate: sink)
    world.network.connect(PeerId("a"), PeerId("bad"))
    world.clock.advance(by: .seconds(1))
    let values: [CBOR] = [
      .null, .integer(-1), .bytes(Data()), .bytes(Data(count: 32)), .bytes(Data(count: 2048)), .text("x"),
      .array([.null]), .array([.record(["id": .bytes(Data(ids[0].bytes)), "heads": .bytes(Data(count: 33))])]),
      .array([.record(["id": .bytes(Data(ids[0].bytes)), "heads": .bytes(Data(count: 64))])]),
      .array([.record(["id": .bytes(Data(count: 16)), "heads": .bytes(Data())])]),
      .array((0..<3000).map { .text("\($0)") }),
    ]
    for type in ["catalogue", "heads", "reach"] {
      for key in ["digest", "buckets", "documents", "documentId", "peers", "idle"] {
        for value in values {
          var fields: [String: CBOR] = ["documentId": .text(ids[0].description)]
          fields[key] = value
          bad.send(.other(type: type, fields: fields), to: PeerId("a"))
        }
      }
    }
    world.clock.advance(by: .seconds(2))
    try #require(world.repos["a"]?.handle(of: ids[0])).splice(0, "still ")
    try await world.clock.run(until: "b hears a") {
      (try? world.repos["b"]?.handle(of: ids[0])?.document.content()) == "still note 0"
    }
  }
}

/// A network's delegate that does nothing.
@AutomergeRepo
private final class Silent: NetworkDelegate {
  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {}
  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {}
  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {}
}
