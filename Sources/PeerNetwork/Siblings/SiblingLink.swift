import AutomergeRepo
import UV

/// One connection between two processes of one user: the same frames, handshake and messages as between peers.
@AutomergeRepo
final class SiblingLink {
  /// What a link tells its provider, never inside a call of the provider's.
  enum Event {
    case established(PeerId, PeerMetadata)
    case received(RepoMessage)
    /// Nothing comes after this.
    case closed
  }

  /// Unsent bytes beyond which a sibling has hung, and is cut off.
  static let queueLimit = 64 << 20

  /// The process at the other end, also after it has gone.
  private(set) var peer: PeerId?
  private let stream: PipeStream
  private let onEvent: (SiblingLink, Event) -> Void
  private var frames = FrameDecoder()
  private var handshake: PeerHandshake
  private var timer: (any ScheduledAction)?

  init(
    stream: PipeStream, role: PeerHandshake.Role, local: LocalPeer, clock: any RepoClock,
    onEvent: @escaping @AutomergeRepo (SiblingLink, Event) -> Void
  ) {
    (self.stream, self.onEvent) = (stream, onEvent)
    handshake = PeerHandshake(role: role, local: local)
    timer = clock.schedule(after: PeerHandshake.timeout) { [weak self] in
      guard let self, self.peer == nil else { return }
      self.perform(self.handshake.receive(.timedOut))
    }
  }

  func open() {
    stream.queueLimit = SiblingLink.queueLimit
    // The stream holds its callbacks, and so this link, until it is closed.
    stream.onRead = { bytes in AutomergeRepo.assumeIsolated { self.read(bytes) } }
    stream.onClose = { _ in AutomergeRepo.assumeIsolated { self.closed() } }
    perform(handshake.receive(.opened))
    stream.resumeReading()
  }

  /// Sends in this turn.
  ///
  /// - Returns: false if the message is longer than a frame may be. It is left out, and what follows is sent.
  @discardableResult
  func send(_ message: RepoMessage) -> Bool {
    guard stream.isOpen else { return true }
    guard let frame = try? Frame.encode(message.encoded()) else { return false }
    do { try stream.write(frame) } catch { stream.close() }
    return true
  }

  /// What was sent goes out first, for a second at most.
  func close() { stream.shutdownThenClose(within: .seconds(1)) }

  private func read(_ bytes: UnsafeRawBufferPointer) {
    frames.append(bytes)
    do {
      while stream.isOpen, let body = try frames.next() { perform(handshake.receive(.received(try RepoMessage(body)))) }
    } catch {
      stream.close()
    }
  }

  private func perform(_ effects: [PeerHandshake.Effect]) {
    for effect in effects {
      switch effect {
      case .send(let message): send(message)
      case .established(let peer, let metadata):
        self.peer = peer
        frames.limit = Frame.maximumByteCount
        timer?.cancel()
        onEvent(self, .established(peer, metadata))
      case .deliver(let message): onEvent(self, .received(message))
      case .close: close()
      }
    }
  }

  private func closed() {
    timer?.cancel()
    onEvent(self, .closed)
  }
}
