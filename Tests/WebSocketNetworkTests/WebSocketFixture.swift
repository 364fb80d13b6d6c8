import AutomergeRepo
import Foundation
import PeerTransport
import RepoTestSupport
import TestSupport
import UV

@testable import WebSocketNetwork

/// A network with no repo behind it: remembers what it was told.
@AutomergeRepo
final class Listener: NetworkDelegate {
  var connected: [PeerId] = []
  var metadata: [PeerId: PeerMetadata] = [:]
  var disconnected: [PeerId] = []
  var messages: [RepoMessage] = []

  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    connected.append(peer)
    self.metadata[peer] = metadata
  }
  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) { disconnected.append(peer) }
  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    messages.append(message)
  }
}

/// A provider with what it reports.
@AutomergeRepo
final class Station {
  let provider: WebSocketProvider
  let heard = Listener()
  let peerId: PeerId

  init(_ name: String, _ loop: Loop, clock: (any RepoClock)? = nil, authorityFile: String? = nil) {
    peerId = PeerId(name)
    provider = WebSocketProvider(loop: loop, clock: clock ?? PatientClock(loop), authorityFile: authorityFile)
    provider.start(as: LocalPeer(peerId: peerId, metadata: PeerMetadata(name: name)), delegate: heard)
  }

  /// Listens at a free port of this machine, for all callers with this token.
  func listen(
    token: String? = nil, certificate: WebSocketCertificate? = nil, limits: WebSocketLimits = WebSocketLimits()
  ) throws -> PeerAddress {
    try provider.listen(at: PeerAddress(host: "127.0.0.1", port: 0), certificate: certificate, limits: limits) {
      request in
      token == nil || request.token == token ? .accept(.token(request.token ?? "")) : .refuse
    }
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
func eventually(_ what: String, on loop: Loop, _ condition: @AutomergeRepo () -> Bool) async throws {
  let clock = LoopClock(loop)
  let deadline = clock.now + Patience.hang
  while !condition() {
    guard clock.now < deadline else { throw NeverHappened(what: what) }
    await withCheckedContinuation { continuation in
      _ = clock.schedule(after: .milliseconds(1)) { continuation.resume() }
    }
  }
}

/// A program that speaks bytes: another implementation, or a hostile one.
@AutomergeRepo
final class RawClient {
  private let stream: TCPStream
  private(set) var received: [UInt8] = []
  private(set) var isClosed = false

  static func connect(to address: PeerAddress, on loop: Loop) async throws -> RawClient {
    let stream: Result<TCPStream, ConnectError> = await withCheckedContinuation { continuation in
      TCPStream.connect(on: loop, host: address.host, port: address.port) { result in
        nonisolated(unsafe) let result = result
        continuation.resume(returning: result)
      }
    }
    return RawClient(try stream.get())
  }

  /// Connects and upgrades.
  static func upgraded(to address: PeerAddress, on loop: Loop) async throws -> RawClient {
    let client = try await connect(to: address, on: loop)
    client.write(upgradeRequest)
    try await eventually("upgraded", on: loop) { client.text.hasSuffix("\r\n\r\n") }
    client.received = []
    return client
  }

  /// Connects, upgrades and introduces itself.
  static func joined(as peer: String, to address: PeerAddress, on loop: Loop) async throws -> RawClient {
    let client = try await upgraded(to: address, on: loop)
    client.write(frame(RepoMessage.join(senderId: PeerId(peer), metadata: PeerMetadata(), versions: ["1"]).encoded()))
    try await eventually("greeted", on: loop) { client.text.contains("selectedProtocolVersion") }
    client.received = []
    return client
  }

  nonisolated static let upgradeRequest =
    "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

  private init(_ stream: TCPStream) {
    self.stream = stream
    stream.onRead = { bytes in AutomergeRepo.assumeIsolated { self.received += Array(bytes) } }
    stream.onClose = { _ in AutomergeRepo.assumeIsolated { self.isClosed = true } }
    stream.resumeReading()
  }

  var text: String { String(decoding: received, as: UTF8.self) }
  func write(_ text: String) { write(Array(text.utf8)) }
  func write(_ bytes: [UInt8]) { try? stream.write(bytes) }
  func close() { stream.close() }
  func pauseReading() { stream.pauseReading() }
  var queuedByteCount: Int { stream.queuedByteCount }

  /// A frame as a client sends it, with a mask of zeros.
  nonisolated static func frame(
    _ body: [UInt8], opcode: UInt8 = 2, isFinal: Bool = true, isMasked: Bool = true, claiming byteCount: Int? = nil
  ) -> [UInt8] {
    let count = byteCount ?? body.count
    let mask: UInt8 = isMasked ? 0x80 : 0
    let length: [UInt8] =
      switch count {
      case ..<126: [mask | UInt8(count)]
      case ..<65536: [mask | 126, UInt8(count >> 8), UInt8(count & 255)]
      default: [mask | 127] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
      }
    return [(isFinal ? 0x80 : 0) | opcode] + length + (isMasked ? [0, 0, 0, 0] : []) + body
  }
}
