import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing

@testable import PeerNetwork
@testable import PeerTransport

/// Links within one process, whose time is the test's: no socket, and nothing waits.
struct PeerLinkTests {
  /// A link of ours, and the bare other end of its connection, which sends what a test likes.
  @AutomergeRepo
  private final class Scene {
    let clock = ManualClock()
    let near: MemoryTransport
    let far: MemoryTransport
    private(set) var link: PeerLink?
    private(set) var proofs: [PeerProof] = []
    private(set) var established: [PeerId] = []
    private(set) var received: [RepoMessage] = []
    private(set) var crowded: [Bool] = []
    private(set) var stallCount = 0
    private(set) var end: LinkError?
    /// What the other end has received.
    private(set) var atFar: [RepoMessage] = []
    var onReceived: (@AutomergeRepo () -> Void)?

    init(
      as role: PeerHandshake.Role = .listener, proof: PeerProof? = .sameUser, capacity: Int = 1 << 20,
      budgets: LinkBudgets = LinkBudgets()
    ) {
      (near, far) = MemoryTransport.pair(clock: clock, proofs: (proof, .sameUser), capacity: capacity)
      link = PeerLink(near, as: role, local: LocalPeer(peerId: PeerId("us")), clock: clock, budgets: budgets) {
        [weak self] _, event in
        self?.handle(event)
      }
      far.limitMessages(to: Frame.maximumByteCount, skipsLonger: false)
      far.open { [weak self] event in
        guard let self, case .received = event else { return }
        while let body = try? self.far.nextMessage() {
          if let message = try? RepoMessage(body) { self.atFar.append(message) }
        }
      }
      link?.open()
      turn()
    }

    private func handle(_ event: PeerLink.Event) {
      switch event {
      case .proven(let proof): proofs.append(proof)
      case .established(let peer, _): established.append(peer)
      case .received(let message):
        received.append(message)
        onReceived?()
      case .crowded(let isCrowded): crowded.append(isCrowded)
      case .stalled: stallCount += 1
      case .closed(let reason): end = reason
      }
    }

    /// Everything that is due happens.
    func turn() { clock.advance(by: .zero) }

    func send(_ message: RepoMessage) throws {
      try far.send(message.encoded())
      turn()
    }

    /// The other end introduces itself.
    func join(as peer: PeerId = PeerId("them"), isTrusted: Bool = false) throws {
      try send(.join(senderId: peer, metadata: PeerMetadata(name: "Them"), versions: ["1"]))
      link?.isTrusted = isTrusted
    }

    func count(ofType type: String) -> Int { atFar.count { $0 == .other(type: type, fields: [:]) } }
  }

  private static func message(_ type: String, byteCount: Int) -> RepoMessage {
    .other(type: type, fields: ["data": .bytes(Data(count: byteCount))])
  }

  // MARK: The handshake

  @Test func twoLinksOverOneConnectionEstablishEachOther() async throws {
    try await TestLoop.run { _ in
      let clock = ManualClock()
      let (one, two) = (Identity(), Identity())
      let ends = MemoryTransport.pair(
        clock: clock, proofs: (.key(fingerprint: two.fingerprint), .key(fingerprint: one.fingerprint)))
      var established: [PeerId] = []
      let events: @AutomergeRepo (PeerLink, PeerLink.Event) -> Void = { _, event in
        if case .established(let peer, _) = event { established.append(peer) }
      }
      let links = [
        PeerLink(ends.0, as: .listener, local: LocalPeer(peerId: one.peerId), clock: clock, onEvent: events),
        PeerLink(
          ends.1, as: .dialer(expecting: one.peerId), local: LocalPeer(peerId: two.peerId), clock: clock,
          onEvent: events),
      ]
      for link in links { link.open() }
      clock.advance(by: .zero)
      #expect(established == [two.peerId, one.peerId])
      links[0].close(.stopped)
      clock.advance(by: .zero)
      #expect(!links[1].isOpen && links[1].peer == one.peerId)
      #expect(clock.plannedCount == 0, "a closed link leaves no timer behind")
    }
  }

  @Test func theProofIsHandedUpAndAKeyPermitsItsOwnPeerIdOnly() async throws {
    try await TestLoop.run { _ in
      let identity = Identity()
      let proof = PeerProof.key(fingerprint: identity.fingerprint)
      let right = Scene(proof: proof)
      try right.join(as: identity.peerId)
      #expect(right.proofs == [proof] && right.established == [identity.peerId])
      let wrong = Scene(proof: proof)
      try wrong.join(as: Identity().peerId)
      #expect(wrong.established.isEmpty && wrong.end == .handshake(.wrongPeer) && wrong.atFar.isEmpty)
    }
  }

  @Test func aTokenPermitsEveryPeerIdButThoseOfKeys() async throws {
    try await TestLoop.run { _ in
      let keyless = Scene(proof: .token("t"))
      try keyless.join(as: PeerId("browser"))
      #expect(keyless.established == [PeerId("browser")])
      let pretender = Scene(proof: .token("t"))
      try pretender.join(as: Identity().peerId)
      #expect(pretender.established.isEmpty && pretender.end == .handshake(.wrongPeer))
    }
  }

  @Test(arguments: [PeerProof.sameUser, nil]) func anEndThatSaysNothingIsCutOffAfterFiveSeconds(proof: PeerProof?)
    async throws
  {
    try await TestLoop.run { _ in
      let scene = Scene(proof: proof)
      scene.clock.advance(by: .milliseconds(4999))
      #expect(scene.end == nil)
      scene.clock.advance(by: .milliseconds(2))
      #expect(scene.end == .handshake(.timedOut) && !scene.far.isOpen)
    }
  }

  // MARK: Frames

  @Test func aLongFrameBeforeTheHandshakeEndsTheLink() async throws {
    try await TestLoop.run { _ in
      let scene = Scene()
      try scene.send(Self.message("long", byteCount: Frame.maximumByteCountBeforeHandshake))
      guard case .lost(let reason)? = scene.end else {
        Issue.record("\(String(describing: scene.end))")
        return
      }
      #expect(reason.contains("broken frame"))
    }
  }

  @Test(arguments: [true, false]) func onlyAKnownPeersLongMessagesAreTaken(isTrusted: Bool) async throws {
    try await TestLoop.run { _ in
      let scene = Scene()
      try scene.join(isTrusted: isTrusted)
      let (long, short) = (Self.message("long", byteCount: 100_000), Self.message("short", byteCount: 1))
      try scene.send(long)
      try scene.send(short)
      #expect(scene.received == (isTrusted ? [long, short] : [short]))
      try scene.far.write([0xff, 0xff, 0xff, 0xff])
      scene.turn()
      #expect(scene.link?.isOpen == false, "a length beyond what a frame may have")
    }
  }

  @Test func aMessageThatIsTooLongIsLeftOutAndTheNextIsSent() async throws {
    try await TestLoop.run { _ in
      let scene = Scene()
      try scene.join(isTrusted: true)
      #expect(scene.link?.send(Self.message("long", byteCount: Frame.maximumByteCount)) == false)
      #expect(scene.link?.send(Self.message("short", byteCount: 1)) == true)
      scene.turn()
      #expect(scene.atFar.last == Self.message("short", byteCount: 1) && scene.link?.isOpen == true)
    }
  }

  @Test func aLongMessageThatDoesNotComeToAnEndIsCutOffWhereThereIsNoRoom() async throws {
    try await TestLoop.run { _ in
      var scene: Scene?
      let unfinished = UnfinishedFrames { (scene?.link).map { [$0] } ?? [] }
      unfinished.maximumByteCount = 2 << 20
      let held = Scene(capacity: 8 << 20, budgets: LinkBudgets(unfinished: unfinished))
      scene = held
      try held.join(isTrusted: true)
      try held.far.write([1, 0, 0, 0] + [UInt8](repeating: 0, count: 3 << 19))
      held.turn()
      #expect(held.link?.hasUnfinished == true && unfinished.byteCount > 3 << 19)
      try held.far.write([UInt8](repeating: 0, count: 1 << 20))
      held.turn()
      #expect(held.end == .lost(reason: "its message does not come to an end") && unfinished.byteCount == 0)
    }
  }

  // MARK: Back-pressure

  @Test func aPeerThatDoesNotReadIsReportedCrowdedUntilItHasReadEverything() async throws {
    try await TestLoop.run { _ in
      let scene = Scene(capacity: 64 << 10)
      try scene.join(isTrusted: true)
      scene.far.pauseReading()
      let message = Self.message("big", byteCount: 700 << 10)
      scene.link?.send(message)
      scene.turn()
      #expect(scene.crowded.isEmpty && scene.link.map { $0.unsentByteCount > 600 << 10 } == true)
      scene.link?.send(message)
      #expect(scene.crowded.isEmpty, "never inside a call of the provider's")
      scene.turn()
      #expect(scene.crowded == [true])
      scene.far.resumeReading()
      scene.turn()
      #expect(scene.crowded == [true, false] && scene.link?.unsentByteCount == 0)
      #expect(scene.atFar.suffix(2) == [message, message])
    }
  }

  @Test func aStrangerThatDoesNotReadIsCutOffSoonerThanAKnownPeer() async throws {
    try await TestLoop.run { _ in
      let message = Self.message("x", byteCount: BackPressure.maximumByteCountOfStranger + (64 << 10))
      for isTrusted in [true, false] {
        let scene = Scene(capacity: 1 << 10)
        try scene.join(isTrusted: isTrusted)
        scene.far.pauseReading()
        scene.link?.send(message)
        scene.link?.send(message)
        scene.turn()
        #expect(scene.end == (isTrusted ? nil : .lost(reason: "it does not read what it is sent")))
      }
    }
  }

  @Test func manyPingsWhoseAnswersAreNotReadHaveOneAnswer() async throws {
    try await TestLoop.run { _ in
      let scene = Scene(capacity: 1 << 10)
      try scene.join()
      scene.far.pauseReading()
      scene.link?.send(Self.message("x", byteCount: 2000))
      for _ in 0..<20 { try scene.send(.other(type: "ping", fields: [:])) }
      let unsent = try #require(scene.link?.unsentByteCount)
      #expect(unsent > 900 && unsent < 2100)
      scene.far.resumeReading()
      scene.turn()
      #expect(scene.count(ofType: "pong") == 1)
      try scene.send(.other(type: "ping", fields: [:]))
      #expect(scene.count(ofType: "pong") == 2)
    }
  }

  @Test func aStrangerIsNotReadFromWhileItsAnswersWait() async throws {
    try await TestLoop.run { _ in
      for isTrusted in [true, false] {
        let scene = Scene(capacity: 1 << 10)
        try scene.join(isTrusted: isTrusted)
        scene.far.pauseReading()
        scene.link?.send(Self.message("x", byteCount: BackPressure.maximumByteCountWhileReading + 2000))
        try scene.send(Self.message("first", byteCount: 1))
        try scene.send(Self.message("second", byteCount: 1))
        #expect(scene.received.count == (isTrusted ? 2 : 1))
        scene.far.resumeReading()
        scene.turn()
        #expect(scene.received.count == 2)
      }
    }
  }

  @Test func aHeldLinkTakesWhatHasComeOnceItIsReleased() async throws {
    try await TestLoop.run { _ in
      let scene = Scene()
      try scene.join()
      scene.onReceived = { [weak scene] in scene?.link?.isHeld = true }
      let messages = (0..<3).map { Self.message("\($0)", byteCount: 1) }
      for message in messages { try scene.far.send(message.encoded()) }
      for count in 1...3 {
        scene.turn()
        #expect(scene.received == Array(messages.prefix(count)))
        scene.link?.isHeld = false
      }
    }
  }

  @Test func aLinkThatHasUsedUpItsShareRests() async throws {
    try await TestLoop.run { _ in
      let work = ManualClock()
      let scene = Scene(budgets: LinkBudgets(share: WorkShare(clock: work)))
      try scene.join()
      scene.onReceived = { work.advance(by: .milliseconds(12)) }
      for number in 0..<3 { try scene.far.send(Self.message("\(number)", byteCount: 1).encoded()) }
      scene.turn()
      #expect(scene.received.count == 1)
      work.advance(by: .milliseconds(11))
      #expect(scene.received.count == 1, "it rests for as long as it has worked")
      work.runNext(until: .seconds(1))
      #expect(scene.received.count == 2)
    }
  }

  // MARK: Signs of life

  @Test func aSilentPeerIsPingedAndThenCutOff() async throws {
    try await TestLoop.run { _ in
      let scene = Scene()
      try scene.join()
      scene.clock.advance(by: .seconds(16))
      #expect(scene.count(ofType: "ping") == 1)
      try scene.send(.other(type: "pong", fields: [:]))
      scene.clock.advance(by: .seconds(44))
      #expect(scene.end == nil)
      scene.clock.advance(by: .seconds(2))
      #expect(scene.end == .lost(reason: "no sign of life"))
    }
  }

  @Test func aKnownPeerWhoseMachineAnswersIsGivenLonger() async throws {
    try await TestLoop.run { _ in
      for isTrusted in [true, false] {
        let scene = Scene()
        scene.near.delivery = Delivery(waitingByteCount: 0, retransmissionCount: 0)
        try scene.join(isTrusted: isTrusted)
        scene.clock.advance(by: .seconds(170))
        #expect((scene.end == nil) == isTrusted)
        scene.clock.advance(by: .seconds(20))
        #expect(scene.end == .lost(reason: "no sign of life"))
      }
    }
  }

  @Test func aProbedPeerHasFiveSecondsToAnswer() async throws {
    try await TestLoop.run { _ in
      for answers in [true, false] {
        let scene = Scene()
        try scene.join()
        scene.link?.probe()
        scene.turn()
        #expect(scene.count(ofType: "ping") == 1)
        if answers { try scene.send(.other(type: "pong", fields: [:])) }
        scene.clock.advance(by: .seconds(6))
        #expect((scene.end == nil) == answers)
      }
    }
  }

  @Test func aPeerOnThisMachineIsNotPinged() async throws {
    try await TestLoop.run { _ in
      let scene = Scene()
      scene.near.isWithinMachine = true
      try scene.join()
      scene.clock.advance(by: .seconds(3600))
      #expect(scene.end == nil && scene.count(ofType: "ping") == 0)
    }
  }

  @Test func bytesThatDoNotArriveAreReportedUntilTheyDo() async throws {
    try await TestLoop.run { _ in
      let scene = Scene()
      try scene.join(isTrusted: true)
      scene.near.delivery = Delivery(waitingByteCount: 100, retransmissionCount: 3)
      scene.link?.send(Self.message("x", byteCount: 1))
      scene.clock.advance(by: .milliseconds(1900))
      #expect(scene.stallCount == 0 && scene.link?.isStalled == true)
      scene.clock.advance(by: .milliseconds(200))
      #expect(scene.stallCount == 1)
      scene.clock.advance(by: .seconds(1))
      #expect(scene.stallCount == 2)
      scene.near.delivery = Delivery(waitingByteCount: 0, retransmissionCount: 0)
      scene.clock.advance(by: .seconds(5))
      #expect(scene.stallCount == 2 && scene.link?.isStalled == false)
    }
  }
}
