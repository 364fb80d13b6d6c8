import AutomergeRepo
import WebSocketNetwork

/// Stands between a repo and a network, and breaks each connection off after so many messages in either direction.
@AutomergeRepo
final class BrittleNetwork: NetworkProvider, NetworkDelegate {
  /// Applies to connections from now on and to those that there are; nil for never.
  var breaksAfter: Int? { didSet { left = left.mapValues { _ in breaksAfter } } }
  private let inner: WebSocketProvider
  private weak var delegate: (any NetworkDelegate)?
  private var left: [PeerId: Int?] = [:]

  init(_ inner: WebSocketProvider) { self.inner = inner }

  func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    self.delegate = delegate
    inner.start(as: local, delegate: self)
  }

  func stop() { inner.stop() }
  func disconnect(_ peer: PeerId) { inner.disconnect(peer) }
  func setReading(_ reads: Bool, from peer: PeerId) { inner.setReading(reads, from: peer) }

  func send(_ message: RepoMessage, to peer: PeerId) {
    if counted(peer) { inner.send(message, to: peer) }
  }

  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    left[peer] = .some(breaksAfter)
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {
    left[peer] = nil
    delegate?.network(self, disconnected: peer)
  }

  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    if counted(peer) { delegate?.network(self, received: message, from: peer) }
  }

  func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {
    delegate?.network(self, peer, isCrowded: isCrowded)
  }

  /// Whether a connection lasts for another message; else it is broken off.
  private func counted(_ peer: PeerId) -> Bool {
    guard case .some(.some(let count)) = left[peer] else { return true }
    left[peer] = .some(count - 1)
    if count <= 0 { inner.breakConnection(to: peer) }
    return count > 0
  }
}
