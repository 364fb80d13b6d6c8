import AutomergeRepo
import PeerTransport
import UV

/// The peers to keep connected: when to call each again, and where it was last connected.
@AutomergeRepo
final class WantedPeers {
  private struct Peer {
    var addresses: [PeerAddress]
    var reconnect = Reconnect()
    var timer: (any ScheduledAction)?
    /// The address of its last connection.
    var lastHost: String?
  }

  /// Calls a peer. Answer with `tell`.
  var onDial: (@AutomergeRepo (PeerId, [PeerAddress]) -> Void)?
  private let clock: any RepoClock
  private var random: RandomSource
  private var peers: [PeerId: Peer] = [:]

  init(clock: any RepoClock, random: RandomSource) { (self.clock, self.random) = (clock, random) }

  var all: [PeerId] { Array(peers.keys) }

  func contains(_ peer: PeerId) -> Bool { peers[peer] != nil }

  func addresses(of peer: PeerId) -> [PeerAddress] { peers[peer]?.addresses ?? [] }

  /// Keeps a peer connected from now on. New addresses replace the old ones.
  func insert(_ peer: PeerId, at addresses: [PeerAddress], isConnected: Bool) {
    if peers[peer] != nil {
      if !addresses.isEmpty { peers[peer]?.addresses = addresses }
      return
    }
    peers[peer] = Peer(addresses: addresses)
    tell(peer, isConnected ? .connected : .wanted)
  }

  func remove(_ peer: PeerId) {
    tell(peer, .unwanted)
    peers[peer] = nil
  }

  /// Call when a peer's connection to this host has ended.
  func lost(_ peer: PeerId, at host: String) { peers[peer]?.lastHost = host }

  /// Whether a peer was last connected on a network of this machine.
  func wasNear(_ peer: PeerId) -> Bool {
    guard let host = peers[peer]?.lastHost else { return false }
    return NetworkInterface.all.contains { $0.isNear(host) }
  }

  func tell(_ peer: PeerId, _ event: Reconnect.Event) {
    guard peers[peer] != nil else { return }
    let jitter = Double.random(in: 0...1, using: &random)
    for effect in peers[peer]?.reconnect.receive(event, jitter: jitter, at: clock.now) ?? [] {
      switch effect {
      case .dial:
        dial(peer)
      case .startTimer(let pause):
        peers[peer]?.timer = clock.schedule(after: pause) { [weak self] in self?.tell(peer, .timerFired) }
      case .cancelTimer:
        peers[peer]?.timer?.cancel()
      }
    }
  }

  private func dial(_ peer: PeerId) {
    let addresses = addresses(of: peer)
    guard addresses.isEmpty else {
      onDial?(peer, addresses)
      return
    }
    // Not inside the state machine's own turn.
    peers[peer]?.timer = clock.schedule(after: .zero) { [weak self] in self?.tell(peer, .failed) }
  }
}
