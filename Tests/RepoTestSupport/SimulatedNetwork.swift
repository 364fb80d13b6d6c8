import AutomergeRepo

/// A network of named peers in one process: messages travel as bytes, in order, with seeded delays; connections break
/// with all that is under way on them.
@AutomergeRepo
public final class SimulatedNetwork {
  private let clock: any RepoClock
  private var random: RandomSource
  private let longestDelay: Duration
  private var providers: [PeerId: SimulatedProvider] = [:]
  private var links: [Pair: Link] = [:]
  public private(set) var deliveredCount = 0
  public private(set) var deliveredByteCount = 0
  /// Every message as it is delivered, for tests that count them.
  public var onDelivery: ((_ message: RepoMessage, _ from: PeerId, _ to: PeerId) -> Void)?

  /// Messages that get lost on the way unnoticed; called as they are sent.
  public var isLost: ((_ message: RepoMessage, _ from: PeerId, _ to: PeerId) -> Bool)?

  /// What a peer has proved to all others.
  public var proof: ((PeerId) -> PeerProof?)?

  /// Until when nothing arrives at a peer from another; nil if nothing is held up. Asked as messages arrive.
  public var isHeldUntil: ((_ from: PeerId, _ to: PeerId) -> Duration?)?

  /// Two peers, whichever way round.
  private struct Pair: Hashable {
    let first: PeerId
    let second: PeerId

    init(_ one: PeerId, _ other: PeerId) { (first, second) = one < other ? (one, other) : (other, one) }
  }

  private final class Link {
    /// The messages under way in each direction. Whichever is due, the oldest arrives, as in a stream.
    var underWay: [PeerId: [[UInt8]]] = [:]
    /// When the last message in each direction arrives.
    var lastArrival: [PeerId: Duration] = [:]
    /// Until when messages in each direction are held up.
    var heldUntil: [PeerId: Duration] = [:]
    var isOpen = true
  }

  public init(clock: any RepoClock, random: RandomSource, longestDelay: Duration = .milliseconds(30)) {
    (self.clock, self.random, self.longestDelay) = (clock, random, longestDelay)
  }

  /// A provider to add to the repo of one peer. A later one for the same peer takes its place.
  public func provider() -> SimulatedProvider { SimulatedProvider(network: self) }

  func register(_ provider: SimulatedProvider, as peer: PeerId) { providers[peer] = provider }

  public func connect(_ one: PeerId, _ other: PeerId) {
    guard one != other, links[Pair(one, other)] == nil, let first = providers[one], let second = providers[other] else {
      return
    }
    links[Pair(one, other)] = Link()
    first.connected(other, second.metadata)
    second.connected(one, first.metadata)
  }

  /// Breaks a connection; what is under way is lost.
  public func disconnect(_ one: PeerId, _ other: PeerId) {
    guard let link = links.removeValue(forKey: Pair(one, other)) else { return }
    link.isOpen = false
    providers[one]?.disconnected(other)
    providers[other]?.disconnected(one)
  }

  public func disconnectAll(of peer: PeerId) {
    for pair in links.keys.filter({ $0.first == peer || $0.second == peer }) { disconnect(pair.first, pair.second) }
  }

  public func isConnected(_ one: PeerId, _ other: PeerId) -> Bool { links[Pair(one, other)] != nil }

  func send(_ message: RepoMessage, from sender: PeerId, to receiver: PeerId) {
    guard let link = links[Pair(sender, receiver)], isLost?(message, sender, receiver) != true else { return }
    link.underWay[receiver, default: []].append(message.encoded())
    let microseconds = Int64.random(
      in: 0...max(0, longestDelay.components.attoseconds / 1_000_000_000_000), using: &random)
    let arrival = max(link.lastArrival[receiver] ?? .zero, clock.now + .microseconds(microseconds))
    link.lastArrival[receiver] = arrival
    clock.schedule(after: arrival - clock.now) { [weak self] in self?.arrive(over: link, sender, receiver) }
  }

  /// Delivers the oldest message under way; called once for each that was sent.
  private func arrive(over link: Link, _ sender: PeerId, _ receiver: PeerId) {
    guard link.isOpen, link.underWay[receiver]?.isEmpty == false else { return }
    // What arrives while another message is still held stays behind it, as in a stream.
    let end = max(isHeldUntil?(sender, receiver) ?? .zero, link.heldUntil[receiver] ?? .zero)
    if end > clock.now {
      link.heldUntil[receiver] = end
      link.lastArrival[receiver] = max(link.lastArrival[receiver] ?? .zero, end)
      clock.schedule(after: end - clock.now) { [weak self] in self?.arrive(over: link, sender, receiver) }
      return
    }
    guard let bytes = link.underWay[receiver]?.removeFirst(), let message = try? RepoMessage(bytes) else { return }
    deliveredCount += 1
    deliveredByteCount += bytes.count
    onDelivery?(message, sender, receiver)
    providers[receiver]?.received(message, from: sender)
  }
}

/// One peer's end of a simulated network.
@AutomergeRepo
public final class SimulatedProvider: NetworkProvider {
  private let network: SimulatedNetwork
  private var local: LocalPeer?
  private weak var delegate: (any NetworkDelegate)?

  init(network: SimulatedNetwork) { self.network = network }

  var metadata: PeerMetadata { local?.metadata ?? PeerMetadata() }

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    (self.local, self.delegate) = (local, delegate)
    network.register(self, as: local.peerId)
  }

  public func stop() {
    if let local { network.disconnectAll(of: local.peerId) }
  }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    if let local { network.send(message, from: local.peerId, to: peer) }
  }

  public func disconnect(_ peer: PeerId) {
    if let local { network.disconnect(local.peerId, peer) }
  }

  public func proof(of peer: PeerId) -> PeerProof? { network.proof?(peer) }

  func connected(_ peer: PeerId, _ metadata: PeerMetadata) {
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  func disconnected(_ peer: PeerId) { delegate?.network(self, disconnected: peer) }

  func received(_ message: RepoMessage, from peer: PeerId) {
    delegate?.network(self, received: message, from: peer)
  }
}
