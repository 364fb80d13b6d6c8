import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import UV

@testable import PeerNetwork

/// A person's program as the command wires it: store, grants, repo, TCP, directory.
@AutomergeRepo
final class Person {
  let repo: Repo
  let provider: TCPProvider
  let directory: PeerDirectory
  var events: [PeerDirectory.Event] = []

  /// Starts over what an earlier one has stored.
  static func start(
    _ name: String, on loop: Loop, storage: any StorageProvider, listen: String? = "127.0.0.1:0"
  ) async throws -> Person {
    let identity = try await Identity.load(from: storage)
    let grants = try await Grants.load(from: storage)
    let clock = PatientClock(loop)
    let repo = Repo(
      peerId: identity.peerId, metadata: PeerMetadata(name: name), storage: storage, sharePolicy: grants, clock: clock)
    let provider = TCPProvider(loop: loop, clock: clock)
    provider.connectTimeout = .seconds(60)
    repo.add(provider)
    let directory = try await PeerDirectory.open(repo: repo, provider: provider, grants: grants, storage: storage)
    let person = Person(repo, provider, directory)
    directory.onEvent = { [weak person] in person?.events.append($0) }
    if let listen { try await directory.listen(at: listen) }
    return person
  }

  private init(_ repo: Repo, _ provider: TCPProvider, _ directory: PeerDirectory) {
    (self.repo, self.provider, self.directory) = (repo, provider, directory)
  }

  var peerId: PeerId { repo.peerId }

  func stop() async throws {
    try await repo.shutDown()
    try await eventually("disconnected", on: provider.loop) { self.repo.peers.isEmpty }
  }

  func find(_ id: DocumentId) async throws -> DocHandle {
    guard case .found(let handle) = await repo.find(id) else { throw NeverHappened(what: "found") }
    return handle
  }
}

/// The loop's clock with long timeouts: on a busy machine seconds pass in which nothing runs.
final class PatientClock: RepoClock {
  private let base: LoopClock

  nonisolated init(_ loop: Loop) { base = LoopClock(loop) }

  var now: Duration { base.now }
  var date: Date { base.date }

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
  _ what: String, on loop: Loop, within limit: Duration = .seconds(60), _ condition: @AutomergeRepo () -> Bool
) async throws {
  let clock = LoopClock(loop)
  let deadline = clock.now + limit
  while !condition() {
    guard clock.now < deadline else { throw NeverHappened(what: what) }
    // One turn of the loop.
    await withCheckedContinuation { continuation in
      _ = clock.schedule(after: .milliseconds(1)) { continuation.resume() }
    }
  }
}

/// A network with no repo behind it: remembers what it was told.
@AutomergeRepo
final class Listener: NetworkDelegate {
  var connected: [PeerId] = []
  var disconnected: [PeerId] = []
  var messages: [RepoMessage] = []

  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    connected.append(peer)
  }
  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) { disconnected.append(peer) }
  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    messages.append(message)
  }
}

/// A bare connection that sends whatever bytes a test likes.
@AutomergeRepo
final class RawPeer {
  let stream: TCPStream
  private var frames = FrameDecoder(limit: Frame.maximumByteCount)
  private(set) var messages: [RepoMessage] = []
  private(set) var isClosed = false

  static func connect(to address: PeerAddress, on loop: Loop, reads: Bool = true) async throws -> RawPeer {
    let result: Result<RawPeer, ConnectError> = await withCheckedContinuation { continuation in
      TCPStream.connect(on: loop, host: address.host, port: address.port) { result in
        nonisolated(unsafe) let result = result
        AutomergeRepo.assumeIsolated { continuation.resume(returning: result.map { RawPeer($0, reads: reads) }) }
      }
    }
    return try result.get()
  }

  private init(_ stream: TCPStream, reads: Bool) {
    self.stream = stream
    stream.onRead = { bytes in
      AutomergeRepo.assumeIsolated {
        self.frames.append(bytes)
        while let body = try? self.frames.next() {
          if let message = try? RepoMessage(body) { self.messages.append(message) }
        }
      }
    }
    stream.onClose = { _ in AutomergeRepo.assumeIsolated { self.isClosed = true } }
    if reads { stream.resumeReading() }
  }

  func send(_ bytes: [UInt8]) { try? stream.write(bytes) }

  func send(_ message: RepoMessage) throws { send(try Frame.encode(message.encoded())) }

  func join(as name: String) throws {
    try send(RepoMessage.join(senderId: PeerId(name), metadata: PeerMetadata(name: name), versions: ["1"]))
  }
}
