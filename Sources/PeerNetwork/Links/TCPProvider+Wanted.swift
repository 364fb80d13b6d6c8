import AutomergeRepo
import UV

/// A peer to keep connected.
struct WantedPeer {
  var addresses: [PeerAddress]
  var reconnect = Reconnect()
  var timer: (any ScheduledAction)?
  /// The address of its last connection.
  var lastHost: String?
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

  /// Calls a waiting peer at once: there is news of its address.
  func callNow(_ peer: PeerId) { tell(peer, .found) }

  /// Stops calling a peer. An existing connection stays.
  public func forget(_ peer: PeerId) {
    tell(peer, .unwanted)
    wanted[peer] = nil
  }

  func tell(_ peer: PeerId, _ event: Reconnect.Event) {
    guard wanted[peer] != nil else { return }
    let jitter = Double.random(in: 0...1, using: &random)
    for effect in wanted[peer]?.reconnect.receive(event, jitter: jitter, at: clock.now) ?? [] {
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
    let isNear = isNear(peer, target)
    let timeout = isNear ? min(TCPProvider.nearbyTimeout, connectTimeout) : connectTimeout
    call(target.addresses, expecting: peer, timeout: timeout) { [weak self] result in
      switch result {
      case .success: break
      case .failure(.noAnswer) where isNear: self?.tell(peer, .unanswered)
      case .failure: self?.tell(peer, .failed)
      }
    }
  }

  /// Whether a peer is announced on a network of this machine, or was last connected there.
  private func isNear(_ peer: PeerId, _ target: WantedPeer) -> Bool {
    if isNearby(peer) { return true }
    guard let host = target.lastHost else { return false }
    return NetworkInterface.all.contains { $0.isNear(host) }
  }
}

/// A second call to a peer whose connection has stalled.
struct Rescue {
  /// The first connection that got through, until its peer is known.
  var link: PeerLink?
}

extension TCPProvider {
  /// Calls a peer anew when nothing gets through; the call that gets through replaces the connection. A peer that we cannot
  /// call does the same from its side.
  func rescue(_ link: PeerLink) {
    guard let peer = link.peer, linkOfPeer[peer] === link, link.isTrusted, rescues[peer] == nil || isStuck(peer) else {
      return
    }
    rescues[peer] = Rescue()
    var addresses = link.direction == .outgoing ? [link.address] : []
    addresses += (wanted[peer]?.addresses ?? []).filter { !addresses.contains($0) }
    for address in addresses.prefix(2) { call(address, expecting: peer, replaces: true) { _ in } }
  }

  /// Whether a second call to a connected peer would help: the connection has stalled, and no other call has got through.
  func isStuck(_ peer: PeerId) -> Bool {
    guard let rescue = rescues[peer] else { return false }
    guard let link = rescue.link, link.isOpen else { return true }
    return clock.now - link.openedAt > PeerHandshake.timeout / 2
  }
}
