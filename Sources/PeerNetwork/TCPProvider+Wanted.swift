import AutomergeRepo

/// A peer that is to be connected whenever it can be.
struct WantedPeer {
  var addresses: [PeerAddress]
  var reconnect = Reconnect()
  var timer: (any ScheduledAction)?
}

extension TCPProvider {
  /// Keeps a peer connected: calls it at these addresses, again and again, until `forget`. New addresses replace the old.
  public func keepConnected(to peer: PeerId, at addresses: [PeerAddress]) {
    guard let local, peer != local.peerId else { return }
    trust(peer)
    if wanted[peer] != nil {
      if !addresses.isEmpty { wanted[peer]?.addresses = addresses }
      return
    }
    wanted[peer] = WantedPeer(addresses: addresses)
    tell(peer, isConnected(peer) ? .connected : .wanted)
  }

  /// Calls a wanted peer at once if it is only waited for: there is news of where it is.
  func callNow(_ peer: PeerId) { tell(peer, .found) }

  /// No longer calls a peer. A connection that there is stays.
  public func forget(_ peer: PeerId) {
    tell(peer, .unwanted)
    wanted[peer] = nil
  }

  func tell(_ peer: PeerId, _ event: Reconnect.Event) {
    guard wanted[peer] != nil else { return }
    let jitter = Double.random(in: 0...1, using: &random)
    for effect in wanted[peer]?.reconnect.receive(event, jitter: jitter) ?? [] {
      switch effect {
      case .dial:
        dial(peer)
      case .startTimer(let pause):
        wanted[peer]?.timer = clock.schedule(after: pause) { [weak self] in self?.tell(peer, .timerFired) }
      case .cancelTimer:
        wanted[peer]?.timer?.cancel()
      }
    }
  }

  private func dial(_ peer: PeerId) {
    guard let target = wanted[peer], !target.addresses.isEmpty else {
      // Not inside the state machine's own turn.
      wanted[peer]?.timer = clock.schedule(after: .zero) { [weak self] in self?.tell(peer, .failed) }
      return
    }
    call(target.addresses, expecting: peer) { [weak self] result in
      if case .failure = result { self?.tell(peer, .failed) }
    }
  }
}
