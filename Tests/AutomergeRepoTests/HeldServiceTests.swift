import Automerge
import Foundation
import HostilePeers
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// A peer that may write sends messages that are small on the wire but much work to apply.
@Suite(.serialized) struct HeldServiceTests {}

extension HeldServiceTests {
  @AutomergeRepo
  private final class Held {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 3)))
    let ana: Repo
    let note: DocHandle
    let copy: DocHandle
    let mallory: SimulatedProvider
    private let sink = Sink()

    init(policy: any ShareAuthorizing = ShareEverything()) async throws {
      ana = world.start("ana", policy: policy)
      world.start("ben")
      note = try ana.create(try .note("start"))
      mallory = world.network.provider()
      mallory.start(as: LocalPeer(peerId: PeerId("mal")), delegate: sink)
      world.connectAll()
      let (world, id) = (world, note.id)
      try await world.clock.run(until: "ben has it") { world.repos["ben"]?.handle(of: id) != nil }
      copy = try #require(world.repos["ben"]?.handle(of: id))
      world.network.connect(PeerId("ana"), PeerId("mal"))
      world.clock.advance(by: .seconds(3))
    }

    func sends(_ data: Data, isRequest: Bool = false) {
      let content = isRequest ? RepoMessage.Content.request(data) : .sync(data)
      mallory.send(
        .document(.init(senderId: PeerId("mal"), targetId: PeerId("ana"), documentId: note.id, content: content)),
        to: PeerId("ana"))
    }

    var length: Int { (try? note.document.contentId()).flatMap { $0 }.map { Int(note.document.length(obj: $0)) } ?? 0 }

    func bothType() async throws {
      try note.splice(0, "A")
      try copy.splice(0, "B")
      let (note, copy) = (note, copy)
      try await world.clock.run(until: "equal", horizon: .seconds(2)) { note.document.heads() == copy.document.heads() }
    }
  }

  /// A policy that lets some peers read, and all others write.
  private final class ReadersPolicy: ShareAuthorizing {
    var readers: Set<PeerId> = []
    nonisolated init() {}
    func announce(_ document: DocumentId, to peer: PeerId) -> Bool { true }
    func access(_ document: DocumentId, for peer: PeerId) -> Access { readers.contains(peer) ? .read : .write }
  }

  @AutomergeRepo
  private final class Sink: NetworkDelegate {
    func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {}
    func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {}
    func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {}
  }

  @Test @AutomergeRepo func whatInflatesToMuchIsTakenSlowlyAndTheOthersGoOn() async throws {
    let held = try await Held()
    let (data, heads) = try HostileChanges.deflated(7, byteCount: 1 << 20, on: held.note.document)
    #expect(data.count < 50_000)
    held.sends(data)
    // It is searched for what Ben, who is there, vouches for. That costs more than may be inflated at once, so only the
    // first piece comes in.
    var pieces = 0
    held.note.observe { event in if case .headsChanged(by: PeerId("mal")) = event { pieces += 1 } }
    let atOnce = IncomingTurns.excessByteCount
    let clock = held.world.clock
    try await clock.run(until: "some is here", horizon: .milliseconds(100)) { held.length > 1 << 20 }
    try await held.bothType()
    for _ in 0..<200 { await Task.yield() }
    try await held.bothType()
    #expect(held.length <= atOnce && pieces == 1)
    // The rest comes as time goes by, and nothing is refused.
    try await clock.run(until: "all of it is here", horizon: .seconds(60)) { held.note.document.unknown(heads).isEmpty }
    #expect(pieces >= 7)
    try await held.bothType()
  }

  @Test @AutomergeRepo func whatWaitsIsLimitedAndKeepsItsOrder() async throws {
    let held = try await Held()
    let first = try HostileChanges.deflated(3, byteCount: 1 << 16, on: held.note.document)
    // What comes behind a large message waits for it: a small one on top of it is not lost.
    let fork = held.note.document.fork()
    held.sends(first.message)
    try fork.receiveSyncMessage(state: SyncState(), message: first.message)
    let text = try #require(try fork.contentId())
    try fork.spliceText(obj: text, start: 0, delete: 0, value: "then")
    fork.commitWith()
    let small = Array(try fork.encodeChangesSince(heads: first.heads))
    held.sends(HostileChanges.message(heads: fork.heads(), changes: [small]))
    let note = held.note
    try await held.world.clock.run(until: "both are here") { note.document.unknown(fork.heads()).isEmpty }
    try await held.bothType()
    // The peer goes in the middle: nothing of it hangs, and another link begins anew.
    let second = try HostileChanges.deflated(3, byteCount: 1 << 16, on: held.note.document)
    held.sends(second.message)
    held.world.clock.advance(by: .milliseconds(40))
    held.world.network.disconnect(PeerId("ana"), PeerId("mal"))
    try await held.world.clock.run(until: "nothing is being read") { note.incoming.isEmpty }
    held.world.network.connect(PeerId("ana"), PeerId("mal"))
    held.sends(second.message)
    try await held.world.clock.run(until: "it is here") { note.document.unknown(second.heads).isEmpty }
    try await held.bothType()
  }

  @Test @AutomergeRepo func whatAClosedLinkHasSentIsReleasedAtOnce() async throws {
    let held = try await Held()
    let (ana, mal) = (PeerId("ana"), PeerId("mal"))
    let message = try HostileChanges.deflated(3, byteCount: 1 << 16, on: held.note.document)
    let (note, turns, network) = (held.note, held.ana.connections.turns, held.world.network)
    // Its budget is used up, so its messages wait for minutes, and longer than its links.
    turns.end(mal, excess: 4 * IncomingTurns.excessByteCount)
    for _ in 0..<3 {
      held.sends(message.message)
      try await held.world.clock.run(until: "it waits", horizon: .seconds(1)) { turns.waitingCount == 1 }
      network.disconnect(ana, mal)
      #expect(turns.waitingCount == 0 && note.incoming.isEmpty)
      network.connect(ana, mal)
    }
    held.sends(message.message)
    try await held.world.clock.run(until: "it is here", horizon: .seconds(300)) {
      note.document.unknown(message.heads).isEmpty
    }
    try await held.bothType()
  }

  /// A network whose peers have all shown one token.
  private final class TokenNetwork: NetworkProvider {
    weak var delegate: (any NetworkDelegate)?
    nonisolated init() {}
    func start(as local: LocalPeer, delegate: any NetworkDelegate) { self.delegate = delegate }
    func stop() {}
    func send(_ message: RepoMessage, to peer: PeerId) {}
    func disconnect(_ peer: PeerId) { delegate?.network(self, disconnected: peer) }
    func proof(of peer: PeerId) -> PeerProof? { .token("secret") }
    func connect(_ peer: PeerId) { delegate?.network(self, connected: peer, metadata: PeerMetadata()) }
  }

  @Test @AutomergeRepo func aTokenHasOneBudgetWhateverItsHoldersCallThemselves() async throws {
    let held = try await Held()
    let (first, second, ben, tokens) = (PeerId("mal-1"), PeerId("mal-2"), PeerId("ben"), TokenNetwork())
    let turns = held.ana.connections.turns
    held.ana.add(tokens)
    tokens.connect(first)
    turns.end(first, excess: 2 * IncomingTurns.excessByteCount)
    tokens.disconnect(first)
    tokens.connect(second)
    #expect(turns.isInDebt(second) && !turns.isInDebt(ben))
    // A message is paid for even if its peer goes while it is read.
    held.world.clock.advance(by: .seconds(600))
    #expect(!turns.isInDebt(second))
    #expect(await turns.begin(second, for: tokens))
    tokens.disconnect(second)
    turns.end(second, excess: 2 * IncomingTurns.excessByteCount)
    tokens.connect(first)
    #expect(turns.isInDebt(first))
  }

  @Test @AutomergeRepo func accountsThatHaveTheirBudgetAgainAreClosed() throws {
    let clock = ManualClock()
    let turns = IncomingTurns(clock: clock) { _ in nil }
    for number in 0..<1000 {
      turns.end(PeerId("peer-\(number)"), excess: IncomingTurns.excessByteCount / 2)
      clock.advance(by: .seconds(1))
    }
    #expect(turns.accountCount <= IncomingTurns.maximumAccounts)
  }

  @Test @AutomergeRepo func whatWaitsOfAllPeersTogetherIsLimited() async throws {
    let held = try await Held()
    let (ana, ben, eva, mal) = (PeerId("ana"), PeerId("ben"), PeerId("eva"), PeerId("mal"))
    let (connections, network) = (held.ana.connections, held.world.network)
    held.world.start("eva")
    network.connect(ana, eva)
    let large = PeerConnections.maximumWaitingBytesOfAll / 2
    // Small messages of many peers do not count.
    connections.hold(PeerConnections.maximumWaitingBytes, of: eva)
    connections.hold(large, of: ben)
    connections.hold(large, of: mal)
    #expect(connections.isConnected(ben) && connections.isConnected(mal))
    // A peer in debt is disconnected first, even if another peer has sent more.
    connections.turns.end(mal, excess: 2 * IncomingTurns.excessByteCount)
    connections.hold(1, of: ben)
    #expect(connections.isConnected(ben) && connections.isConnected(eva) && !connections.isConnected(mal))
    connections.hold(large, of: eva)
    #expect(connections.isConnected(ben) && !connections.isConnected(eva))
    #expect(network.isConnected(ana, ben))
    connections.hold(-large - 1, of: ben)
    try await held.bothType()
  }

  @Test @AutomergeRepo func ofALongMessageOfAReaderTheHeaderCounts() async throws {
    let policy = ReadersPolicy()
    let held = try await Held(policy: policy)
    let (note, mal) = (held.note, PeerId("mal"))
    policy.readers = [mal]
    held.ana.policyChanged()
    var refusalCount = 0
    note.observe { event in if case .refusedChanges(from: mal) = event { refusalCount += 1 } }
    let fork = note.document.fork()
    let text = try #require(try fork.contentId())
    try fork.spliceText(obj: text, start: 0, delete: 0, value: String(repeating: "a", count: 2 << 20))
    fork.commitWith()
    let changes = Array(try fork.encodeChangesSince(heads: note.document.heads()))
    held.sends(HostileChanges.message(heads: fork.heads(), changes: [changes]))
    // It is read elsewhere, and its peer's access is looked at in between.
    held.world.clock.advance(by: .milliseconds(40))
    #expect(!note.incoming.isEmpty)
    held.ana.policyChanged()
    try await held.world.clock.run(until: "it was read") { note.incoming.isEmpty }
    #expect(note.sync.heads(of: mal) == fork.heads() && refusalCount == 1 && held.length == 5)
    try await held.bothType()
    // What is no message is no harm.
    held.sends(Data(count: 2 << 20))
    held.world.clock.advance(by: .milliseconds(40))
    try await held.world.clock.run(until: "it was read") { note.incoming.isEmpty }
    try await held.bothType()
  }

  @Test @AutomergeRepo func aPeerThatKeepsAskingForEverythingIsAnsweredAFewTimes() async throws {
    let held = try await Held()
    var answers = 0
    held.world.network.onDelivery = { message, _, to in
      guard case .document(let message) = message, case .sync(let data) = message.content, to == PeerId("mal") else {
        return
      }
      if SyncHeader(data)?.changeCount ?? 0 > 0 { answers += 1 }
    }
    for _ in 0..<200 {
      held.sends(HostileChanges.message(heads: [], changes: [], wantsAll: true), isRequest: true)
      held.world.clock.advance(by: .milliseconds(100))
    }
    #expect(answers > 0 && answers <= 3 * DocumentSync.maximumWholeCount, "\(answers)")
    try await held.bothType()
    // After the next look it is answered again.
    let before = answers
    held.ana.checkForStalls()
    held.sends(HostileChanges.message(heads: [], changes: [], wantsAll: true), isRequest: true)
    held.world.clock.advance(by: .seconds(1))
    #expect(answers > before)
  }

  @Test @AutomergeRepo func aLargeNoteIsJoinedAndEditedAtOnce() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 5)))
    for name in ["ana", "ben", "eva"] { world.start(name) }
    let text = String(repeating: "a line of forty-nine letters, as notes have them.\n", count: 40_000)
    let note = try #require(world.repos["ana"]).create(try .note(text))
    world.connectAll()
    let id = note.id
    try await world.clock.run(until: "all have it", horizon: .seconds(60)) {
      ["ben", "eva"].allSatisfy { world.repos[$0]?.handle(of: id)?.document.heads() == note.document.heads() }
    }
    let (ben, eva) = (
      try #require(world.repos["ben"]?.handle(of: id)), try #require(world.repos["eva"]?.handle(of: id))
    )
    // A paste of a megabyte, and letters before and after it.
    try ben.splice(0, "before ")
    try ben.splice(0, String(repeating: "paste ", count: 200_000))
    try ben.splice(0, "after ")
    try eva.splice(0, "eva ")
    try await world.clock.run(until: "all are equal", horizon: .seconds(60)) {
      [ben, eva].allSatisfy { $0.document.heads() == note.document.heads() } && note.inSync(with: PeerId("eva"))
    }
    let content = try #require(try note.document.content())
    #expect(["before ", "after ", "eva ", "paste paste"].allSatisfy { content.contains($0) })
    #expect(content.utf8.count == text.utf8.count + 7 + 6 + 4 + 1_200_000)
  }
}
