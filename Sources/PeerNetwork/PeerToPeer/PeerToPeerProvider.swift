import AutomergeRepo
import Foundation
import Logging
import PeerTransport
import UV

/// Peers nearby: announces this program on the local network, sees others, and connects over TLS.
///
///     let repo = Repo(sharePolicy: SharePolicy.agreeable)
///     let nearby = PeerToPeerProvider(PeerToPeerProviderConfiguration(passcode: "plum-otter-lamp-violin"))
///     await repo.add(nearby)
///     try await nearby.startListening(as: "Ana")
///
/// A peer is known by its key; the repo's own id is not used outside. Peers of a group know a passcode: a peer that
/// does not is disconnected before the repo sees it. Needs no event loop: the first provider starts one for the whole
/// process.
public final class PeerToPeerProvider: NetworkProvider {
  private let configuration: PeerToPeerProviderConfiguration
  /// The name that people nearby see.
  public private(set) var peerName: String
  private weak var delegate: (any NetworkDelegate)?
  /// The repo's own id and metadata; nil until the provider is added to a repo.
  private var repoPeer: LocalPeer?
  private var network: PeerToPeerNetwork?
  private let peers: PasscodePeers
  private let available = LatestValues<[AvailablePeer]>([])
  private let connections = LatestValues<[PeerConnectionInfo]>([])

  public nonisolated init(_ configuration: PeerToPeerProviderConfiguration) {
    self.configuration = configuration
    peerName = PeerToPeerProviderConfiguration.defaultSharingIdentity()
    peers = PasscodePeers(local: configuration.identity.peerId, timeout: configuration.waitForPeerTimeout)
  }

  /// The id by which peers know us.
  public nonisolated var peerId: PeerId { configuration.identity.peerId }

  // MARK: Listening

  /// Listens, announces this program under a name, and looks for peers, from now on until `stopListening`.
  public func startListening(as peerName: String? = nil) async throws(PeerToPeerError) {
    if let peerName { setName(peerName) }
    guard repoPeer != nil else { throw .notAddedToARepo }
    guard network == nil else { return }
    let loop = try await PeerToPeerNetwork.loop()
    if let passcode = configuration.passcode { peers.key = await PasscodeKey.derive(from: passcode) }
    // Another call may have been faster, or the repo may have stopped.
    guard network == nil, let repoPeer else { return }
    let network = try PeerToPeerNetwork(configuration, loop: loop)
    network.tcp.policy.isKnown = { [weak self] peer in self?.peers.isAgreed(peer) ?? false }
    network.onChange = { [weak self] change in self?.nearbyChanged(change) }
    peers.network = network
    peers.onEvent = { [weak self] event in self?.handle(event) }
    do throws(PeerNetworkError) {
      try network.start(as: repoPeer.metadata, name: self.peerName, delegate: peers)
    } catch {
      peers.network = nil
      throw .network(error)
    }
    self.network = network
  }

  /// Ends all connections, and stops announcing, looking and listening.
  public func stopListening() {
    guard let network else { return }
    self.network = nil
    network.stop()
    peers.end()
    peers.network = nil
    available.set([])
  }

  /// The address where we listen; nil if we do not.
  public var listening: PeerAddress? { network?.tcp.listening }

  /// Sets the name that people nearby see.
  public func setName(_ name: String) {
    peerName = KnownPeer.clean(name) ?? peerName
    network?.update(name: peerName)
  }

  // MARK: Peers

  /// The peers that announce themselves nearby, by name.
  public var availablePeers: [AvailablePeer] { available.value }

  /// The same now, and again whenever it has changed.
  public func availablePeerUpdates() -> AsyncStream<[AvailablePeer]> { available.updates() }

  /// The connections to peers that have proved that they know the passcode.
  public var peeredConnections: [PeerConnectionInfo] { connections.value }

  /// The same now, and again whenever it has changed.
  public func connectionUpdates() -> AsyncStream<[PeerConnectionInfo]> { connections.updates() }

  /// Connects to a peer nearby. Returns when it has proved that it knows the passcode.
  public func connect(to peer: PeerId) async throws(PeerToPeerError) {
    guard let network else { throw .notListening }
    guard let found = network.nearby(peer) else { throw .unknownPeer(peer) }
    try await connect(toAnyOf: found.addresses, expecting: peer, network)
  }

  /// Connects to the peer at an address. Returns when it has proved that it knows the passcode.
  @discardableResult
  public func connect(to address: PeerAddress) async throws(PeerToPeerError) -> PeerId {
    guard let network else { throw .notListening }
    return try await connect(toAnyOf: [address], expecting: nil, network)
  }

  @discardableResult
  private func connect(
    toAnyOf addresses: [PeerAddress], expecting peer: PeerId?, _ network: PeerToPeerNetwork
  ) async throws(PeerToPeerError) -> PeerId {
    let reached: PeerId
    do throws(PeerNetworkError) {
      reached = try await network.tcp.connect(toAnyOf: addresses, expecting: peer)
    } catch {
      throw .network(error)
    }
    switch await peers.agree(with: reached) {
    case .agreed: break
    case .refused: throw .wrongPasscode(reached)
    case .timedOut: throw .network(.handshake(.timedOut))
    }
    if configuration.reconnectOnError { network.tcp.keepConnected(to: reached, at: addresses) }
    return reached
  }

  /// Disconnects from a peer, and does not call it again.
  public func disconnect(_ peer: PeerId) {
    network?.tcp.forget(peer)
    network?.tcp.disconnect(peer)
  }

  /// The same, by automerge-repo-swift's label.
  public func disconnect(peerId: PeerId) { disconnect(peerId) }

  /// Disconnects from all peers.
  public func disconnect() {
    for connection in peeredConnections { disconnect(connection.peerId) }
  }

  private func nearbyChanged(_ change: NearbyPeers.Change) {
    guard let network else { return }
    available.set(network.nearby.map { AvailablePeer(peerId: $0.peer, name: $0.name, addresses: $0.addresses) })
    guard configuration.autoconnect else { return }
    switch change {
    case .appeared(let peer), .changed(let peer):
      if !peers.isRefused(peer.peer) { network.tcp.keepConnected(to: peer.peer, at: peer.addresses) }
    case .vanished(let peer, _): network.tcp.forget(peer)
    }
  }

  // MARK: Provider

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    (repoPeer, self.delegate) = (local, delegate)
  }

  public func stop() {
    stopListening()
    repoPeer = nil
  }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    guard let repoPeer, peers.isAgreed(peer) else { return }
    network?.tcp.send(message.exchanging(repoPeer.peerId, for: peerId), to: peer)
  }

  public func setReading(_ reads: Bool, from peer: PeerId) { network?.tcp.setReading(reads, from: peer) }

  public func proof(of peer: PeerId) -> PeerProof? { network?.tcp.proof(of: peer) }

  private func handle(_ event: PasscodePeers.Event) {
    guard let repoPeer else { return }
    switch event {
    case .agreed(let peer, let metadata):
      noteConnections()
      delegate?.network(self, connected: peer, metadata: metadata)
    case .received(let message, let peer):
      delegate?.network(self, received: message.exchanging(peerId, for: repoPeer.peerId), from: peer)
    case .crowded(let peer, let isCrowded): delegate?.network(self, peer, isCrowded: isCrowded)
    case .left(let peer):
      noteConnections()
      delegate?.network(self, disconnected: peer)
    case .refused(let peer):
      configuration.logger.notice("\(peer) has another passcode; it is not called again")
      network?.tcp.forget(peer)
    }
  }

  private func noteConnections() {
    connections.set(
      peers.agreed.map { peer, metadata in
        PeerConnectionInfo(
          peerId: peer, peerMetadata: metadata, endpoint: network?.tcp.address(of: peer),
          initiated: network?.tcp.dialledAddress(of: peer) != nil)
      }.sorted { $0.peerId < $1.peerId })
  }
}
