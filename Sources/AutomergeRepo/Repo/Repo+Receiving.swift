import Automerge

/// What a network provider reports to the repo.
extension Repo: NetworkDelegate {
  public func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    if connections.isConnected(peer) { forget(peer) }
    connections.opened(peer, metadata, by: provider)
    observers.send(provider.isSiblings ? .siblingConnected(peer) : .peerConnected(peer, metadata))
    guard connections.isReceiving else { return }
    for entry in sharing.entries(toTell: peer) {
      if let handle = entry.handle { introduce(peer, to: handle) }
    }
    guard !provider.isSiblings else { return }
    upkeep.catalogues.begin(with: peer)
    remotes.heads.connected()
  }

  public func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {
    guard connections.isConnected(peer, by: provider) else { return }
    forget(peer)
  }

  private func forget(_ peer: PeerId) {
    let wasSibling = connections.isSibling(peer)
    connections.closed(peer)
    connections.ephemeral.gate.forget(peer)
    upkeep.catalogues.end(with: peer)
    remotes.heads.disconnected(peer)
    for entry in entries.all { entry.queued.remove(peer) }
    for entry in entries.linked(to: peer) { entry.handle?.receive(.disconnected(peer)) }
    observers.send(wasSibling ? .siblingDisconnected(peer) : .peerDisconnected(peer))
  }

  public func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {
    guard connections.isConnected(peer, by: provider) else { return }
    connections.setCrowded(isCrowded, peer)
    for entry in entries.linked(to: peer) { entry.handle?.receive(.crowded(peer, isCrowded)) }
  }

  public func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    guard connections.isReceiving, connections.isConnected(peer, by: provider) else { return }
    MessageRouter(repo: self).received(message, from: peer)
  }

  /// Takes nothing more from peers, which hear of our own changes until `shutDown`. A change that arrives after its
  /// document was written for the last time would be lost, and its sender would believe that it is kept here; so it stays
  /// unanswered, and is sent again at the next connection.
  package func stopReceiving() {
    connections.isReceiving = false
    for entry in entries.all {
      _ = entry.takeQueue()
      entry.handle?.incoming.endAll()
    }
  }
}
