import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

/// Repos over a simulated network, until they agree.
struct RepoSyncTests {
  @Test @AutomergeRepo func aDocumentReachesThePeersAndEditsFollow() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
    for name in ["a", "b", "c"] { world.start(name) }
    world.connect("a", "b")
    world.connect("b", "c")
    let mine = try #require(world.repos["a"]).create(try .note("hello"))
    // c hears of it from b alone.
    try await world.clock.run(until: "c has it") { world.repos["c"]?.handle(of: mine.id) != nil }
    let theirs = try #require(world.repos["c"]?.handle(of: mine.id))
    try theirs.splice(5, " world")
    try await world.clock.run(until: "a hears c") { (try? mine.document.content()) == "hello world" }
    try await world.clock.run(until: "all are in sync") {
      mine.inSync(with: PeerId("b")) && theirs.inSync(with: PeerId("b"))
    }
    #expect(mine.peers == [PeerId("b")])
  }

  @Test @AutomergeRepo func aKeystrokeGoesOutInTheSameTurn() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 2)))
    let repo = world.start("a")
    world.start("b")
    world.connect("a", "b")
    let handle = try repo.create(try .note())
    try await world.clock.run(until: "in sync") { handle.inSync(with: PeerId("b")) }
    var sent: [RepoMessage] = []
    world.network.isLost = { message, _, _ in
      sent.append(message)
      return false
    }
    try handle.splice(0, "x")
    #expect(
      sent.contains { message in
        if case .document(let message) = message, case .sync = message.content { true } else { false }
      }, "it is on its way before anything else happens")
    var heard: [TextEdit] = []
    let other = try #require(world.repos["b"]?.handle(of: handle.id))
    other.observe { event in
      if case .textEdits(let edits, let peer) = event, peer == PeerId("a") { heard += edits }
    }
    try await world.clock.run(until: "heard") { !heard.isEmpty }
    #expect(heard.map(\.inserted) == [Array("x".utf8)])
    #expect(heard.map(\.utf8Offset) == [0])
  }

  /// Two that agree say nothing more, and a change costs a message there and one back.
  @Test @AutomergeRepo func thereAreNoReplyLoops() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 3)))
    let repo = world.start("a")
    world.start("b")
    let handle = try repo.create(try .note("text"))
    world.connect("a", "b")
    try await world.clock.run(until: "in sync") { handle.inSync(with: PeerId("b")) }
    world.clock.advance(by: .seconds(1))
    let before = world.network.deliveredCount
    world.clock.advance(by: .seconds(600))
    #expect(world.network.deliveredCount == before)
    for number in 0..<20 {
      try handle.splice(number, "x")
      world.clock.advance(by: .seconds(1))
    }
    #expect(world.network.deliveredCount - before <= 40)
  }

  private static let seeds = 11..<11 + UInt64(SeedCount.of(6))

  @Test(arguments: seeds) @AutomergeRepo
  func repliesPartitionsAndCrashesEndInOneText(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed &* 31)))
    let names = ["a", "b", "c", "d"]
    for name in names { world.start(name) }
    let first = try #require(world.repos["a"]).create(try .note("start"))
    let id = first.id
    try await world.flush("a")
    world.connectAll()
    var stored: Set<ChangeHash> = []
    for step in 0..<120 {
      let name = names[Int.random(in: 0..<names.count, using: &random)]
      let other = names[Int.random(in: 0..<names.count, using: &random)]
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<13:
        if let handle = world.repos[name]?.handle(of: id) { try handle.randomEdit(using: &random) }
      case 13, 14: world.disconnect(name, other)
      case 15: world.connectAll()
      case 16:
        try await world.flush(name)
        if let handle = world.repos[name]?.handle(of: id) { stored.formUnion(handle.document.heads()) }
      case 17 where step > 20:
        world.crash(name)
        world.start(name)
        _ = try await world.find(id, at: name)
      default: world.clock.advance(by: .milliseconds(Int.random(in: 1...80, using: &random)))
      }
    }
    for name in names { world.network.disconnectAll(of: PeerId(name)) }
    world.connectAll()
    var handles: [DocHandle] = []
    for name in names { handles.append(try #require(try await world.handle(id, at: name), "seed \(seed)")) }
    try await world.clock.run(until: "seed \(seed): all heads are equal", horizon: .seconds(60)) {
      Set(handles.map { $0.document.heads() }).count == 1
    }
    let texts = try handles.map { try $0.document.content() }
    #expect(Set(texts).count == 1, "seed \(seed)")
    for handle in handles { #expect(handle.document.unknown(stored).isEmpty, "seed \(seed): stored and lost") }
  }

  @Test @AutomergeRepo func ephemeralsReachEverybodyOnce() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 4)))
    for name in ["a", "b", "c"] { world.start(name) }
    world.connectAll()
    let handle = try #require(world.repos["a"]).create(try .note("x"))
    for name in ["b", "c"] {
      try await world.clock.run(until: "\(name) has it") { world.repos[name]?.handle(of: handle.id) != nil }
    }
    try await world.clock.run(until: "in sync") { handle.inSync(with: PeerId("b")) && handle.inSync(with: PeerId("c")) }
    var heard: [String: [Data]] = [:]
    for name in ["a", "b", "c"] {
      world.repos[name]?.handle(of: handle.id)?.observe { event in
        if case .ephemeral(let message, _) = event { heard[name, default: []].append(message.data) }
      }
    }
    handle.broadcast(Data([1]))
    handle.broadcast(Data([2]))
    world.clock.advance(by: .seconds(5))
    #expect(heard["a"] == nil)
    #expect(heard["b"] == [Data([1]), Data([2])])
    #expect(heard["c"] == [Data([1]), Data([2])])
  }

  @Test @AutomergeRepo func hostileMessagesDoNoHarm() async throws {
    let seed: UInt64 = 8
    var random = SeededGenerator(seed: seed)
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
    let repo = world.start("a")
    world.start("b")
    let handle = try repo.create(try .note("safe"))
    let heads = handle.document.heads()
    let bad = world.network.provider()
    let sink = Sink()
    bad.start(as: LocalPeer(peerId: PeerId("bad")), delegate: sink)
    world.connectAll()
    world.network.connect(PeerId("a"), PeerId("bad"))
    let killers: [[UInt8]] = [
      [0x42, 0, 0, 1, 0, 3, 1, 0, 1, 0], [0x42], [0xff], [0x42, 0xff, 0xff, 0xff, 0xff, 0x0f], [0x44, 0, 0, 0, 0],
      [0x42, 0, 0, 0, 1, 0],
    ]
    for index in 0..<400 {
      let data = Data(
        index < killers.count
          ? killers[index]
          : [0x42] + (0..<Int.random(in: 0...80, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      )
      func send(_ content: RepoMessage.Content) {
        let id = handle.id
        bad.send(
          .document(.init(senderId: PeerId("bad"), targetId: PeerId("a"), documentId: id, content: content)),
          to: PeerId("a"))
      }
      send(index % 3 == 0 ? .request(data) : .sync(data))
      if index % 50 == 0 { send(.unavailable) }
    }
    world.clock.advance(by: .seconds(10))
    #expect(handle.document.heads() == heads, "seed \(seed)")
    try handle.splice(4, "!")
    try await world.clock.run(until: "b hears a") {
      (try? world.repos["b"]?.handle(of: handle.id)?.document.content()) == "safe!"
    }
  }

  @AutomergeRepo
  private final class Sink: NetworkDelegate {
    func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {}
    func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {}
    func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {}
  }
}
