import Automerge
import AutomergeRepo

/// A network provider between the repo and another provider that counts what passes.
///
///     repo ◄──► MeteredProvider ◄──► the provider of a network
public final class MeteredProvider: NetworkProvider, NetworkDelegate {
  /// What has passed since the start.
  public struct Traffic: Hashable, Sendable {
    public var messageCount = 0
    /// The size of the messages' contents.
    public var byteCount = 0
    public var changeCount = 0

    mutating func note(_ message: RepoMessage) {
      messageCount += 1
      switch message {
      case .document(let message):
        guard let data = message.content.data else { return }
        byteCount += data.count
        changeCount += SyncHeader(data)?.changeCount ?? 0
      case .ephemeral(let message): byteCount += message.data.count
      case .join, .peer, .leave, .error, .other: break
      }
    }
  }

  private let inner: any NetworkProvider
  private weak var delegate: (any NetworkDelegate)?
  public private(set) var received = Traffic()
  public private(set) var sent = Traffic()
  public private(set) var connectionCount = 0

  public init(_ inner: any NetworkProvider) { self.inner = inner }

  // MARK: Towards the network

  public var isSiblings: Bool { inner.isSiblings }

  public func proof(of peer: PeerId) -> PeerProof? { inner.proof(of: peer) }

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    self.delegate = delegate
    inner.start(as: local, delegate: self)
  }

  public func stop() { inner.stop() }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    sent.note(message)
    inner.send(message, to: peer)
  }

  public func disconnect(_ peer: PeerId) { inner.disconnect(peer) }

  public func setReading(_ reads: Bool, from peer: PeerId) { inner.setReading(reads, from: peer) }

  // MARK: Towards the repo

  public func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    connectionCount += 1
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  public func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {
    connectionCount -= 1
    delegate?.network(self, disconnected: peer)
  }

  public func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    received.note(message)
    delegate?.network(self, received: message, from: peer)
  }

  public func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {
    delegate?.network(self, peer, isCrowded: isCrowded)
  }
}
