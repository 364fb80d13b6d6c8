import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Several links between two peers, which come up in another order at each end. Without sockets; time is simulated.
struct DuplicateLinksTests {
  /// The simulated clock, seen through one slow connection: what it carries is late by another amount each time.
  private final class SlowClock: RepoClock {
    private let base: ManualClock
    private var random: SeededGenerator

    nonisolated init(_ base: ManualClock, seed: UInt64) { (self.base, random) = (base, SeededGenerator(seed: seed)) }

    var now: Duration { base.now }
    var date: Date { base.date }

    func schedule(after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void) -> any ScheduledAction {
      base.schedule(after: delay + .milliseconds(Int.random(in: 0...200, using: &random)), action)
    }
  }

  /// One end: asks the other a question on each link that comes up.
  @AutomergeRepo
  private final class End: NetworkDelegate {
    let provider: TCPProvider
    let identity: Identity
    private(set) var isConnected = false
    /// Whether the question of the present link has been answered.
    private(set) var isAnswered = false

    init(_ loop: Loop, _ clock: ManualClock, _ identity: Identity) throws {
      self.identity = identity
      provider = try TCPProvider(loop: loop, clock: clock, identity: identity)
      provider.start(as: LocalPeer(peerId: identity.peerId), delegate: self)
    }

    var peerId: PeerId { identity.peerId }

    func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
      #expect(!isConnected)
      (isConnected, isAnswered) = (true, false)
      provider.send(.other(type: "question", fields: [:]), to: peer)
    }

    func network(_ provider: any NetworkProvider, disconnected peer: PeerId) { isConnected = false }

    func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {}

    func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
      guard case .other(let type, _) = message else { return }
      if type == "question" { provider.send(.other(type: "answer", fields: [:]), to: peer) }
      if type == "answer" { isAnswered = true }
    }
  }

  /// Two ends and the connections between them.
  @AutomergeRepo
  private final class Pair {
    let loop: Loop
    let clock = ManualClock()
    var ends: [End]
    private var connections: [(dialler: PeerLink, listener: PeerLink)] = []
    private var random: SeededGenerator

    init(_ loop: Loop, seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      let clock = clock
      self.loop = loop
      ends = try (0..<2).map { _ in
        try End(loop, clock, Identity(random: RandomSource(SeededGenerator(seed: random.next()))))
      }
      self.random = random
    }

    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Whether two links of an end belong to one connection.
    private var currentConnections: [Int?] {
      (0..<2).map { index in
        let link = ends[index].provider.links[ends[1 - index].peerId]
        return connections.firstIndex { $0.dialler === link || $0.listener === link }
      }
    }

    /// One end calls the other. Each of them notices within a while.
    func call(from caller: Int, within limit: Int = 300, replaces: Bool = false) throws {
      let (dialler, listener) = (ends[caller], ends[1 - caller])
      let proofs = (
        PeerProof.key(fingerprint: listener.identity.fingerprint),
        PeerProof.key(fingerprint: dialler.identity.fingerprint)
      )
      let slow = SlowClock(clock, seed: random.next())
      let (near, far) = MemoryTransport.pair(clock: slow, proofs: proofs)
      let address = PeerAddress(host: "192.0.2.1", port: UInt16(connections.count + 1))
      let link = dialler.provider.add(
        near, address, .dialer(expecting: listener.peerId), try #require(dialler.provider.local))
      let other = listener.provider.add(far, address, .listener, try #require(listener.provider.local))
      if replaces {
        dialler.provider.redials.begin(listener.peerId)
        dialler.provider.redials.gotThrough(link, to: listener.peerId)
      }
      connections.append((link, other))
      for link in [link, other] {
        clock.schedule(after: .milliseconds(pick(0...limit))) { link.open() }
      }
    }

    /// An end's process dies and starts again, which the other end does not notice.
    func restart(_ index: Int) throws { ends[index] = try End(loop, clock, ends[index].identity) }

    /// Both ends use the same connection, have no other, and have answered each other on it.
    var isSettled: Bool {
      let current = currentConnections
      return current[0] != nil && current[0] == current[1]
        && ends.allSatisfy { $0.provider.links.count == 1 && $0.isConnected && $0.isAnswered }
    }

    /// The number of the connection that both use.
    var settled: Int? { isSettled ? currentConnections[0] : nil }

    /// What is going on between the two, for a test that fails.
    var state: String { "\(currentConnections), links \(ends.map(\.provider.links.count))" }

    /// Time passes until everything that was sent has arrived. A link that has worked much rests in real time.
    func settle() async throws {
      clock.advance(by: .seconds(4))
      try await eventually("one link, settled", on: loop) {
        clock.advance(by: .milliseconds(10))
        return isSettled
      }
    }

    func stop() {
      for end in ends { end.provider.stop() }
      clock.advance(by: .seconds(2))
    }
  }

  @Test(arguments: 1...300) func oneLinkIsLeftInWhateverOrderTheyComeUp(seed: UInt64) async throws {
    try await TestLoop.run { loop in
      let pair = try Pair(loop, seed: seed)
      for _ in 0..<pair.pick(2...4) { try pair.call(from: pair.pick(0...1)) }
      try await pair.settle()
      #expect(pair.isSettled, "seed \(seed): \(pair.state)")
      pair.stop()
    }
  }

  @Test(arguments: 1...100) func callsBesideAStalledLinkTakeItsPlaceAtBothEnds(seed: UInt64) async throws {
    try await TestLoop.run { loop in
      let pair = try Pair(loop, seed: seed)
      for _ in 0..<pair.pick(1...2) { try pair.call(from: pair.pick(0...1)) }
      try await pair.settle()
      let old = try #require(pair.settled, "seed \(seed): \(pair.state)")
      for _ in 0..<pair.pick(1...3) { try pair.call(from: pair.pick(0...1), replaces: true) }
      try await pair.settle()
      let new = try #require(pair.settled, "seed \(seed): \(pair.state)")
      #expect(new > old, "seed \(seed)")
      pair.stop()
    }
  }

  @Test(arguments: 1...20) func theCallOfARestartedPeerTakesThePlaceOfALinkThatHasNotNoticed(seed: UInt64) async throws
  {
    try await TestLoop.run { loop in
      let pair = try Pair(loop, seed: seed)
      try pair.call(from: pair.pick(0...1))
      for _ in 0..<pair.pick(0...3) {
        try await pair.settle()
        try pair.call(from: pair.pick(0...1), replaces: true)
      }
      try await pair.settle()
      let old = try #require(pair.settled, "seed \(seed): \(pair.state)")
      let (restarted, former) = (pair.pick(0...1), pair.ends)
      try pair.restart(restarted)
      try pair.call(from: restarted)
      try await pair.settle()
      let new = try #require(pair.settled, "seed \(seed): \(pair.state)")
      #expect(new > old, "seed \(seed)")
      pair.stop()
      former[restarted].provider.stop()
    }
  }

  @Test func aCallIsNotContinuedWhenAnotherHasReachedThePeer() async throws {
    try await TestLoop.run { loop in
      let pair = try Pair(loop, seed: 1)
      try pair.call(from: 0, within: 0)
      try await pair.settle()
      let link = try #require(pair.ends[1].provider.links[pair.ends[0].peerId])
      try pair.call(from: 0, within: 0)
      try await pair.settle()
      #expect(pair.settled == 0 && pair.ends[1].provider.links[pair.ends[0].peerId] === link)
      pair.stop()
    }
  }

  /// Peers of older versions send no marks.
  @Test func aPeerWithoutMarksIsConnectedByTheDirectionsOfItsLinks() throws {
    let (local, peer) = (LocalPeer(peerId: "a"), PeerId("b"))
    var listener = PeerHandshake(role: .listener, local: local, permits: { _, _ in true })
    _ = listener.receive(.opened(.sameUser))
    _ = listener.receive(.received(.join(senderId: peer, metadata: PeerMetadata(), versions: ["1"])))
    #expect(listener.peer == peer && listener.rank == nil)
    var dialler = PeerHandshake(role: .dialer(expecting: peer), local: local, permits: { _, _ in true })
    dialler.mark(CallMark(run: 1, round: 1, number: 1))
    _ = dialler.receive(.opened(.sameUser))
    _ = dialler.receive(
      .received(.peer(senderId: peer, targetId: local.peerId, metadata: PeerMetadata(), version: "1")))
    #expect(dialler.peer == peer && dialler.rank == nil)
  }

  @Test func marksArriveAsTheyWereSentAndHugeOnesAreNone() throws {
    var metadata = PeerMetadata(name: "Ana")
    for (round, isMark) in [(0, true), (7, true), ((1 << 53) - 1, true), (1 << 53, false), (.max, false)]
      as [(UInt64, Bool)]
    {
      metadata.call = CallMark(run: .max, round: round, number: 3)
      let message = RepoMessage.join(senderId: "a", metadata: metadata, versions: ["1"])
      guard case .join(_, let read, _) = try RepoMessage(message.encoded()) else { throw NeverHappened(what: "a join") }
      #expect(read.name == "Ana" && read.call == (isMark ? metadata.call : nil))
    }
  }
}
