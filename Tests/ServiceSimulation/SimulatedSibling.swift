import AutomergeRepo
import Foundation
import RepoTestSupport

/// One process's connection to its person's others. To the rest of the world they are one peer, so among themselves
/// each has a name of its own, which replaces the peer's in every message.
@AutomergeRepo
final class SimulatedSibling: NetworkProvider {
  nonisolated let isSiblings = true
  let name: PeerId
  private let base: SimulatedProvider
  private var local: LocalPeer?
  private weak var delegate: (any NetworkDelegate)?

  init(name: PeerId, _ network: SimulatedNetwork) { (self.name, base) = (name, network.provider()) }

  func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    (self.local, self.delegate) = (local, delegate)
    base.start(as: LocalPeer(peerId: name, metadata: local.metadata), delegate: self)
  }

  func stop() { base.stop() }
  func disconnect(_ peer: PeerId) { base.disconnect(peer) }

  func send(_ message: RepoMessage, to peer: PeerId) {
    if let local, let message = message.exchanging(local.peerId, for: name) { base.send(message, to: peer) }
  }
}

extension SimulatedSibling: NetworkDelegate {
  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {
    delegate?.network(self, disconnected: peer)
  }

  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    guard let local, let message = message.exchanging(name, for: local.peerId) else { return }
    delegate?.network(self, received: message, from: peer)
  }
}

extension RepoMessage {
  /// The same message with one peer replaced by another, as its sender and as its target.
  fileprivate func exchanging(_ old: PeerId, for new: PeerId) -> RepoMessage? {
    guard case .map(var entries)? = try? CBOR(Data(encoded()), limits: .stored) else { return nil }
    for index in entries.indices where ["senderId", "targetId"].contains(entries[index].key.text) {
      if entries[index].value.text == old.description { entries[index].value = .text(new.description) }
    }
    return try? RepoMessage(CBOR.map(entries).encoded())
  }
}
