import Automerge
import AutomergeRepo
import Foundation
import PeerNetwork
import PeerTransport
import UV

/// Many hostile peers of one service, at work at the same time, each in one way: links that do nothing, pings whose
/// answers they do not read, invitations, guessed tickets, values without end, inflating data, forged presence,
/// requests for everything.
@AutomergeRepo
public final class Besiegers {
  /// How a peer without any share is a nuisance.
  private enum Stranger: CaseIterable { case idle, pings, invitations, tickets, longFrames }

  /// What an admitted guest does.
  private enum Guest: CaseIterable { case inflation, values, presence, requests, pings, rubbish }

  private struct Attacker {
    let provider: TCPProvider
    let peer: PeerId
    var stranger: Stranger?
    var guest: Guest?
    var document: DocumentId?
    var isCalling = false
    /// A message that inflates, made once.
    var bomb = Data()
  }

  /// Between two of an attacker's doings.
  private static let interval: Duration = .milliseconds(20)
  /// How many are at work in each of these times.
  private static let atOnce = 8

  private let loop: Loop
  private let address: PeerAddress
  private let host: PeerId
  private let clock: LoopClock
  /// How many changes there are in what inflates, of half a megabyte each.
  private let bombSize: Int
  private var attackers: [Attacker] = []
  private var next = 0
  private var isOver = false
  private var number: UInt64 = 0
  /// What stands behind attackers that have joined.
  private var company: [(Repo, PeerDirectory, DocHandle)] = []
  private let sink = Sink()

  public private(set) var sentCount = 0

  public var linkCount: Int { attackers.count { $0.provider.isConnected(host) } }

  public init(_ loop: Loop, address: PeerAddress, host: PeerId, bombSize: Int) {
    (self.loop, self.address, self.host, self.bombSize) = (loop, address, host, bombSize)
    clock = LoopClock(loop)
  }

  /// Adds peers that are shared nothing.
  public func addStrangers(_ count: Int) throws {
    for index in 0..<count {
      let identity = Identity()
      let provider = try TCPProvider(loop: loop, clock: clock, identity: identity)
      provider.start(as: LocalPeer(peerId: identity.peerId, metadata: PeerMetadata(name: "Ben")), delegate: sink)
      let kind = Stranger.allCases[index % Stranger.allCases.count]
      attackers.append(Attacker(provider: provider, peer: identity.peerId, stranger: kind))
    }
  }

  /// Adds guests, who come in with a ticket.
  public func addGuests(_ count: Int, ticket: String) async throws {
    for index in 0..<count {
      let (identity, storage) = (Identity(), InMemoryStorage())
      let grants = try await Grants.load(from: storage)
      let repo = Repo(
        peerId: identity.peerId, metadata: PeerMetadata(name: "Guest"), storage: storage, sharePolicy: grants,
        clock: clock)
      let provider = try TCPProvider(loop: loop, clock: clock, identity: identity)
      repo.add(provider)
      let directory = try await PeerDirectory.open(repo: repo, provider: provider, grants: grants, storage: storage)
      let id = try await directory.join(ticket: ticket)
      guard case .found(let handle) = await repo.find(id) else { continue }
      let kind = Guest.allCases[index % Guest.allCases.count]
      var attacker = Attacker(provider: provider, peer: identity.peerId, guest: kind, document: id)
      if kind == .inflation {
        attacker.bomb = try HostileChanges.deflated(bombSize, byteCount: 1 << 19, on: handle.document).message
      }
      attackers.append(attacker)
      company.append((repo, directory, handle))
    }
  }

  /// Begins, and goes on until `stop`.
  public func begin() {
    guard !isOver else { return }
    for _ in 0..<min(Besiegers.atOnce, attackers.count) {
      act(next % attackers.count)
      next += 1
    }
    _ = clock.schedule(after: Besiegers.interval) { [weak self] in self?.begin() }
  }

  public func stop() {
    isOver = true
    for attacker in attackers { attacker.provider.stop() }
    attackers = []
    company = []
  }

  private func act(_ index: Int) {
    let attacker = attackers[index]
    guard attacker.provider.isConnected(host) else { return call(index) }
    if let kind = attacker.stranger { act(attacker, as: kind) }
    if let kind = attacker.guest, let document = attacker.document { act(attacker, as: kind, on: document) }
  }

  private func call(_ index: Int) {
    guard !attackers[index].isCalling, attackers[index].stranger != nil else { return }
    attackers[index].isCalling = true
    let provider = attackers[index].provider
    Task {
      _ = try? await provider.connect(to: address, expecting: host)
      if attackers.indices.contains(index) { attackers[index].isCalling = false }
    }
  }

  private func send(_ message: RepoMessage, by attacker: Attacker) {
    sentCount += 1
    attacker.provider.send(message, to: host)
  }

  private func act(_ attacker: Attacker, as kind: Stranger) {
    number += 1
    var id = [UInt8](repeating: 0, count: 16)
    for place in 0..<8 { id[place] = UInt8(truncatingIfNeeded: number >> UInt64(8 * place)) }
    let document = CBOR.text((DocumentId(bytes: id)?.description) ?? "")
    switch kind {
    case .idle: break
    case .pings: ping(attacker)
    case .invitations:
      send(
        .other(
          type: "invite",
          fields: [
            "invitation": .bytes(Data(id)), "documentId": document, "access": "write", "title": "Budget",
            "name": "Ben", "commitment": .bytes(Data(count: 32)),
          ]), by: attacker)
    case .tickets:
      send(.other(type: "ticket", fields: ["documentId": document, "secret": .bytes(Data(id))]), by: attacker)
    case .longFrames:
      send(.other(type: "x", fields: ["x": .array(Array(repeating: .text(""), count: 50_000))]), by: attacker)
    }
  }

  private func act(_ attacker: Attacker, as kind: Guest, on document: DocumentId) {
    number += 1
    switch kind {
    case .inflation:
      send(
        .document(.init(senderId: attacker.peer, targetId: host, documentId: document, content: .sync(attacker.bomb))),
        by: attacker)
    case .values:
      send(.other(type: "x", fields: ["x": .array(Array(repeating: .array([]), count: 60_000))]), by: attacker)
    case .presence:
      for count in 0..<100 {
        let state = CBOR.record(["name": .text("Ben"), "ranges": .array([])])
        let update = CBOR.record(["__presence": .record(["type": "update", "channel": "notes", "value": state])])
        let author = count % 2 == 0 ? PeerId("nobody\(number)-\(count)") : host
        send(
          .ephemeral(
            .init(
              senderId: author, targetId: host, documentId: document, count: .max, sessionId: "s\(number)",
              data: Data(update.encoded()))), by: attacker)
      }
    case .requests:
      let data = HostileChanges.message(heads: [], changes: [], wantsAll: true)
      for _ in 0..<10 {
        send(
          .document(.init(senderId: attacker.peer, targetId: host, documentId: document, content: .request(data))),
          by: attacker)
      }
    case .pings: ping(attacker)
    case .rubbish:
      let bytes = Data((0..<4096).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ Int(truncatingIfNeeded: number)) })
      for start in [Data([0x42, 0, 0, 0, 1]), Data([0x43, 1]), Data()] {
        send(
          .document(
            .init(senderId: attacker.peer, targetId: host, documentId: document, content: .sync(start + bytes))),
          by: attacker)
      }
    }
  }

  /// Pings, whose answers stay unread.
  private func ping(_ attacker: Attacker) {
    attacker.provider.setReading(false, from: host)
    for _ in 0..<100 { send(.other(type: "ping", fields: [:]), by: attacker) }
  }

  private final class Sink: NetworkDelegate {
    func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {}
    func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {}
    func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {}
  }
}
