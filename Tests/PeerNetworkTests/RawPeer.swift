import AutomergeRepo
import Foundation
import TestSupport
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// A connection that sends whatever bytes a test likes, encrypted or not.
@AutomergeRepo
final class RawPeer {
  let identity: Identity
  let stream: TCPStream
  private let tls: TLSSession?
  private var frames = FrameDecoder(maximumByteCount: Frame.maximumByteCount)
  private var unsent: [UInt8] = []
  private(set) var messages: [RepoMessage] = []
  /// Everything that came from the socket.
  private(set) var receivedByteCount = 0
  private(set) var isClosed = false { didSet { wake() } }
  /// How many pings have been answered.
  private(set) var pongCount = 0 { didSet { wake() } }
  private var waiter: CheckedContinuation<Void, Never>?

  var peerId: PeerId { identity.peerId }

  static func connect(
    to address: PeerAddress, on loop: Loop, as identity: Identity = Identity(), isEncrypted: Bool = true,
    reads: Bool = true, validity: TLSContext.Validity = TLSContext.always
  ) async throws -> RawPeer {
    let session = isEncrypted ? try TLSSession(TLSContext(identity, validity: validity), .dialer) : nil
    let result: Result<RawPeer, ConnectError> = await withCheckedContinuation { continuation in
      TCPStream.connect(on: loop, host: address.host, port: address.port, timeout: .seconds(60)) { result in
        nonisolated(unsafe) let result = result
        AutomergeRepo.assumeIsolated {
          continuation.resume(returning: result.map { RawPeer(identity, $0, session, reads: reads) })
        }
      }
    }
    return try result.get()
  }

  private init(_ identity: Identity, _ stream: TCPStream, _ tls: TLSSession?, reads: Bool) {
    (self.identity, self.stream, self.tls) = (identity, stream, tls)
    stream.onRead = { bytes in AutomergeRepo.assumeIsolated { self.receive(bytes, reads: reads) } }
    stream.onClose = { _ in AutomergeRepo.assumeIsolated { self.isClosed = true } }
    _ = try? tls?.advance()
    flush()
    stream.resumeReading()
  }

  private func receive(_ bytes: UnsafeRawBufferPointer, reads: Bool) {
    receivedByteCount += bytes.count
    guard let tls else { return take(bytes) }
    do {
      try tls.receive(bytes)
      guard try tls.advance() else { return flush() }
      if !unsent.isEmpty { try tls.write(unsent[...]) }
      unsent = []
      flush()
      while let plain = try tls.read() { take(plain) }
      if !reads { stream.pauseReading() }
    } catch {
      stream.close()
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    frames.append(bytes)
    while let body = try? frames.next() {
      guard let message = try? RepoMessage(body) else { continue }
      messages.append(message)
      if case .other("pong", _) = message { pongCount += 1 }
    }
  }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }

  /// Sends a ping behind what was sent before, and returns when it has been answered, or the connection is closed.
  func pinged() async throws {
    let wanted = pongCount + 1
    try send(.other(type: "ping", fields: [:]))
    var isLate = false
    let deadline = LoopClock(stream.loop).schedule(after: Patience.hang) {
      isLate = true
      self.wake()
    }
    while !isClosed, pongCount < wanted {
      guard !isLate else { throw NeverHappened(what: "an answer to a ping") }
      await withCheckedContinuation { waiter = $0 }
    }
    deadline.cancel()
  }

  private func flush() {
    if let output = tls?.takeOutput() { try? stream.write(output) }
  }

  /// Sends at once, or when the encryption is there.
  func send(_ bytes: [UInt8]) {
    guard let tls else { return (try? stream.write(bytes)) ?? () }
    guard tls.peerFingerprint != nil else { return unsent += bytes }
    try? tls.write(bytes[...])
    flush()
  }

  func send(_ message: RepoMessage) throws { send(try Frame.encode(message.encoded())) }

  func join(as name: PeerId? = nil, called shownName: String = "Raw") throws {
    try send(RepoMessage.join(senderId: name ?? peerId, metadata: PeerMetadata(name: shownName), versions: ["1"]))
  }

  /// The fields of the messages of a type that have come.
  func fields(ofType wanted: String) -> [[String: CBOR]] {
    messages.compactMap { message in
      if case .other(wanted, let fields) = message { fields } else { nil }
    }
  }
}
