import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// A person's program as the command wires it: store, grants, repo, TCP, directory.
@AutomergeRepo
final class Person {
  let repo: Repo
  let provider: TCPProvider
  let directory: PeerDirectory
  let clock: PatientClock
  var grants: Grants { directory.grants }
  var events: [SharingEvent] = []

  /// Starts over what an earlier one has stored.
  static func start(
    _ name: String, on loop: Loop, storage: any StorageProvider, listen: String? = "127.0.0.1:0"
  ) async throws -> Person {
    let identity = try await Identity.kept(in: storage)
    let grants = try await Grants.load(from: storage)
    let clock = PatientClock(loop)
    let repo = Repo(
      peerId: identity.peerId, metadata: PeerMetadata(name: name), storage: storage, sharePolicy: grants, clock: clock)
    repo.signer = identity.signer
    let provider = try TCPProvider(loop: loop, clock: clock, identity: identity)
    provider.connectTimeout = .seconds(60)
    provider.crossingTime = .seconds(60)
    repo.add(provider)
    let directory = try await PeerDirectory.open(repo: repo, provider: provider, grants: grants, storage: storage)
    let person = Person(repo, provider, directory, clock)
    directory.onEvent = { [weak person] in person?.events.append($0) }
    if let listen { try await directory.listen(at: listen) }
    return person
  }

  private init(_ repo: Repo, _ provider: TCPProvider, _ directory: PeerDirectory, _ clock: PatientClock) {
    (self.repo, self.provider, self.directory, self.clock) = (repo, provider, directory, clock)
  }

  var peerId: PeerId { repo.peerId }

  func stop() async throws {
    try await repo.shutDown(waitingForPeers: .zero)
    try await eventually("disconnected", on: provider.loop) { self.repo.peers.isEmpty }
  }

  /// Tries again while a real service closes the connection: its deadlines for strangers pass on a busy machine.
  func connect(to address: PeerAddress) async throws -> PeerId {
    let deadline = clock.now + Patience.hang
    while true {
      do {
        return try await provider.connect(to: address)
      } catch {
        guard clock.now < deadline else { throw error }
        try await eventually("a moment later", on: provider.loop) { true }
      }
    }
  }

  /// Joins with a ticket, and returns the note. Calls again if the host is a process of its own that was too busy for the few seconds
  /// of a handshake.
  func open(_ ticket: String) async throws -> DocHandle {
    let deadline = ContinuousClock.now + Patience.hang
    while true {
      do {
        return try await find(try await directory.join(ticket: ticket))
      } catch JoinError.unreachable(_, _) where ContinuousClock.now < deadline {
        continue
      }
    }
  }

  /// Tries again while no connected peer has the document: on a busy machine a connection may be replaced meanwhile.
  func find(_ id: DocumentId) async throws -> DocHandle {
    let deadline = clock.now + Patience.hang
    while true {
      let outcome = await repo.find(id)
      if case .found(let handle) = outcome { return handle }
      guard case .unavailable = outcome, clock.now < deadline else {
        throw NeverHappened(what: "\(id) found: \(outcome)")
      }
      try await eventually("a peer", on: provider.loop) { !self.repo.peers.isEmpty }
    }
  }
}

extension Identity {
  /// The identity of a person whose store is in memory, the same at every start.
  static func kept(in storage: any StorageProvider) async throws -> Identity {
    if let bytes = try await storage.load(["test identity"]), let identity = Identity(privateKey: Array(bytes)) {
      return identity
    }
    let identity = Identity()
    try await storage.save(["test identity"], Data(identity.privateKey))
    return identity
  }
}

/// The loop's clock with long timeouts: on a busy machine seconds pass in which nothing runs.
final class PatientClock: RepoClock {
  private let base: LoopClock
  /// By how many seconds the calendar is wrong.
  var calendarAhead: TimeInterval = 0

  nonisolated init(_ loop: Loop) { base = LoopClock(loop) }

  var now: Duration { base.now }
  var date: Date { base.date.addingTimeInterval(calendarAhead) }

  func schedule(after delay: Duration, _ action: @escaping @AutomergeRepo () -> Void) -> any ScheduledAction {
    base.schedule(after: delay < .seconds(1) ? delay : delay * 20, action)
  }
}

struct NeverHappened: Error, CustomStringConvertible {
  let what: String
  var description: String { "never happened: \(what)" }
}

/// Returns when the condition is true; throws when it has not come true after a generous time.
@AutomergeRepo
func eventually(
  _ what: String, on loop: Loop, within limit: Duration = Patience.hang, _ condition: @AutomergeRepo () -> Bool
) async throws {
  let clock = LoopClock(loop)
  let deadline = clock.now + limit
  var turns = 0
  while !condition() {
    guard clock.now < deadline else { throw NeverHappened(what: what) }
    // One turn of the loop, and after a while several: looking costs time too, which some tests measure.
    turns += 1
    let pause = Duration.milliseconds(turns < 20 ? 1 : 10)
    await withCheckedContinuation { continuation in
      _ = clock.schedule(after: pause) { continuation.resume() }
    }
  }
}

/// A provider that listens on this machine, and what it reports.
@AutomergeRepo
final class Station {
  let provider: TCPProvider
  let identity: Identity
  let heard = Listener()
  let address: PeerAddress

  init(_ loop: Loop, clock: (any RepoClock)? = nil, identity: Identity = Identity(), at address: PeerAddress? = nil)
    throws
  {
    self.identity = identity
    provider = try TCPProvider(loop: loop, clock: clock ?? PatientClock(loop), identity: identity)
    provider.connectTimeout = .seconds(60)
    provider.crossingTime = .seconds(60)
    provider.start(as: LocalPeer(peerId: identity.peerId, metadata: PeerMetadata(name: "Station")), delegate: heard)
    self.address = try provider.listen(at: address ?? PeerAddress(host: "127.0.0.1", port: 0))
  }

  var peerId: PeerId { identity.peerId }
}

/// A network with no repo behind it: remembers what it was told.
@AutomergeRepo
final class Listener: NetworkDelegate {
  var connected: [PeerId] = []
  var disconnected: [PeerId] = []
  var messages: [RepoMessage] = []
  var crowded: [PeerId: Bool] = [:]

  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    connected.append(peer)
  }
  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) { disconnected.append(peer) }
  func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) { crowded[peer] = isCrowded }
  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    messages.append(message)
  }
}
