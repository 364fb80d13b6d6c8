/// A repo's peers as a sequence.
extension Repo {
  /// The connected peers now, and again whenever one has connected or left. A slow reader misses values in between, but
  /// never the last one. Ends with `shutDown`.
  public func peerUpdates() -> AsyncStream<[ConnectedPeer]> {
    observers.stream(.bufferingNewest(1), first: connectedPeers) { [weak self] event in
      switch event {
      case .peerConnected, .peerDisconnected: self?.connectedPeers
      case .siblingConnected, .siblingDisconnected, .documentOpened, .documentDeleted, .documentReleased: nil
      }
    }
  }
}
