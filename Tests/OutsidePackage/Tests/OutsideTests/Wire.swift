import AutomergeRepo

/// A network of our own: two repos of one process, whose messages travel as bytes.
@AutomergeRepo
final class Wire {
  let ends: [End]

  init() {
    ends = [End(), End()]
    (ends[0].other, ends[1].other) = (ends[1], ends[0])
  }

  /// Joins two repos.
  func join(_ one: Repo, _ other: Repo) {
    one.add(ends[0])
    other.add(ends[1])
    connect()
  }

  func connect() { for end in ends { end.connect() } }

  func cut() { for end in ends { end.stop() } }

  final class End: NetworkProvider {
    weak var other: End?
    private var local: LocalPeer?
    private weak var delegate: (any NetworkDelegate)?
    private let incoming = AsyncStream.makeStream(of: [UInt8].self)
    private var isConnected = false

    init() {
      // One task reads all messages, so they stay in order.
      Task { [weak self, stream = incoming.stream] in
        for await bytes in stream { self?.receive(bytes) }
      }
    }

    func start(as local: LocalPeer, delegate: any NetworkDelegate) { (self.local, self.delegate) = (local, delegate) }

    func connect() {
      guard let peer = other?.local else { return }
      isConnected = true
      delegate?.network(self, connected: peer.peerId, metadata: peer.metadata)
    }

    func send(_ message: RepoMessage, to peer: PeerId) {
      if isConnected { other?.incoming.continuation.yield(message.encoded()) }
    }

    private func receive(_ bytes: [UInt8]) {
      guard isConnected, let peer = other?.local?.peerId, let message = try? RepoMessage(bytes) else { return }
      delegate?.network(self, received: message, from: peer)
    }

    func proof(of peer: PeerId) -> PeerProof? { .token("wire") }

    func disconnect(_ peer: PeerId) {
      stop()
      other?.stop()
    }

    func stop() {
      guard isConnected else { return }
      isConnected = false
      if let peer = other?.local { delegate?.network(self, disconnected: peer.peerId) }
    }
  }
}
