import AutomergeRepo
import UV

/// One TCP connection: bytes to messages and back, the handshake, and signs of life.
@AutomergeRepo
final class PeerLink {
  /// What a link tells its provider, never inside a call of the provider's.
  enum Event {
    case established(PeerId, PeerMetadata)
    case received(RepoMessage)
    /// Nothing comes after this.
    case closed(PeerNetworkError)
  }

  /// Unsent bytes beyond which a peer is too slow to keep. Source: PeerProtocol.md, "Limits".
  static let queueLimit = 64 << 20

  let direction: LinkDirection
  let address: PeerAddress
  private(set) var metadata = PeerMetadata()
  /// Who is at the other end, also after it has gone.
  private(set) var peer: PeerId?

  private let stream: TCPStream
  private let clock: any RepoClock
  private let onEvent: (PeerLink, Event) -> Void
  private var frames = FrameDecoder()
  private var handshake: PeerHandshake
  private var keepalive: Keepalive
  private var timer: (any ScheduledAction)?
  private var reason: PeerNetworkError?

  init(
    stream: TCPStream, address: PeerAddress, role: PeerHandshake.Role, local: LocalPeer, clock: any RepoClock,
    onEvent: @escaping @AutomergeRepo (PeerLink, Event) -> Void
  ) {
    (self.stream, self.address, self.clock, self.onEvent) = (stream, address, clock, onEvent)
    direction = role == .listener ? .incoming : .outgoing
    handshake = PeerHandshake(role: role, local: local)
    keepalive = Keepalive(now: clock.now)
  }

  func open() {
    stream.queueLimit = PeerLink.queueLimit
    // The stream holds its callbacks, and so this link, until it is closed.
    stream.onRead = { bytes in AutomergeRepo.assumeIsolated { self.read(bytes) } }
    stream.onClose = { error in AutomergeRepo.assumeIsolated { self.closed(error) } }
    timer = clock.schedule(after: PeerHandshake.timeout) { [weak self] in
      guard let self, self.handshake.peer == nil else { return }
      self.perform(self.handshake.receive(.timedOut))
    }
    perform(handshake.receive(.opened))
    stream.resumeReading()
  }

  var isOpen: Bool { stream.isOpen && reason == nil }

  /// Sends in this turn. A peer that has let too much pile up is cut off.
  func send(_ message: RepoMessage) {
    guard isOpen else { return }
    do {
      try stream.write(try Frame.encode(message.encoded()))
    } catch {
      close(.unreachable(address, reason: "\(error)"), politely: false)
    }
  }

  /// - Parameter politely: what was sent goes out first, for a second at most.
  func close(_ reason: PeerNetworkError, politely: Bool = true) {
    guard self.reason == nil else { return }
    self.reason = reason
    if politely { stream.shutdownThenClose(within: .seconds(1)) } else { stream.close() }
  }

  // MARK: From the stream

  private func read(_ bytes: UnsafeRawBufferPointer) {
    keepalive.heard(at: clock.now)
    frames.append(bytes)
    do {
      while isOpen, let body = try frames.next() { try receive(body) }
    } catch let error as FrameError {
      close(.unreachable(address, reason: "broken frame: \(error)"), politely: false)
    } catch {
      close(.handshake(.unexpectedMessage), politely: false)
    }
  }

  private func receive(_ body: [UInt8]) throws {
    let message: RepoMessage
    do {
      message = try RepoMessage(body)
    } catch {
      // Of a peer that we know one bad message is dropped; a stranger gets no second chance.
      guard handshake.peer != nil else { throw error }
      return
    }
    switch message {
    case .other("ping", _) where handshake.peer != nil: send(.other(type: "pong", fields: [:]))
    case .other("pong", _) where handshake.peer != nil: break
    default: perform(handshake.receive(.received(message)))
    }
  }

  private func perform(_ effects: [PeerHandshake.Effect]) {
    for effect in effects {
      switch effect {
      case .send(let message):
        send(message)
      case .established(let peer, let metadata):
        (self.peer, self.metadata) = (peer, metadata)
        frames.limit = Frame.maximumByteCount
        timer?.cancel()
        watch()
        onEvent(self, .established(peer, metadata))
      case .deliver(let message):
        onEvent(self, .received(message))
      case .close(let error):
        close(error.map { .handshake($0) } ?? .unreachable(address, reason: "the peer has left"))
      }
    }
  }

  private func watch() {
    timer = clock.schedule(after: keepalive.nextCheck(at: clock.now)) { [weak self] in
      guard let self, self.isOpen else { return }
      switch self.keepalive.check(at: self.clock.now) {
      case .ping?: self.send(.other(type: "ping", fields: [:]))
      case .dead?: return self.close(.unreachable(self.address, reason: "no sign of life"), politely: false)
      case nil: break
      }
      self.watch()
    }
  }

  private func closed(_ error: UVError?) {
    timer?.cancel()
    let fallback = PeerNetworkError.unreachable(address, reason: error?.message ?? "the connection was closed")
    onEvent(self, .closed(reason ?? fallback))
  }
}
