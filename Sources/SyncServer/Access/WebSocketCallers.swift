import AutomergeRepo
import PeerTransport
import WebSocketNetwork

/// The peers that connect to a server by WebSocket. Admits each according to the access file, and tells the policy how.
public final class WebSocketCallers: NetworkProvider, NetworkDelegate {
  private let sockets: WebSocketProvider
  private let policy: ServerPolicy
  private weak var delegate: (any NetworkDelegate)?
  private var alias: PeerAlias?

  public init(_ sockets: WebSocketProvider, policy: ServerPolicy) { (self.sockets, self.policy) = (sockets, policy) }

  /// Accepts connections from now on. Port 0 picks a free one.
  /// - Returns: the address.
  public func listen(
    at address: PeerAddress, certificate: WebSocketCertificate?
  ) throws(PeerNetworkError) -> PeerAddress {
    try sockets.listen(at: address, certificate: certificate) { [policy] request in
      policy.admission(presenting: request.token, origin: request.origin).map { .accept(.token($0.text)) }
        ?? .refuse
    }
  }

  /// The address where it listens; nil if it does not.
  public var listening: PeerAddress? { sockets.listening }

  public func stopListening() { sockets.stopListening() }

  /// Ends the connections of peers that the access file no longer admits.
  public func dropUnwanted() { for peer in policy.unwanted { sockets.disconnect(peer) } }

  // MARK: Towards the network

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    let alias = PeerAlias(local.peerId)
    (self.delegate, self.alias) = (delegate, alias)
    let isReserved = sockets.isReserved
    sockets.isReserved = { isReserved($0) || $0.owner == alias.own }
    sockets.start(as: LocalPeer(peerId: alias.shown, metadata: local.metadata), delegate: self)
  }

  public func stop() { sockets.stop() }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    if let alias { sockets.send(alias.outgoing(message), to: peer) }
  }

  public func disconnect(_ peer: PeerId) { sockets.disconnect(peer) }

  public func proof(of peer: PeerId) -> PeerProof? { sockets.proof(of: peer) }

  public func setReading(_ reads: Bool, from peer: PeerId) { sockets.setReading(reads, from: peer) }

  // MARK: Towards the repo

  public func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    guard case .token(let text)? = sockets.proof(of: peer), let admission = ServerPolicy.Admission(text) else {
      return sockets.disconnect(peer)
    }
    guard policy.admit(peer, as: admission) else { return sockets.disconnect(peer) }
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  public func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {
    delegate?.network(self, disconnected: peer)
    policy.dismiss(peer)
  }

  public func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    if let alias { delegate?.network(self, received: alias.incoming(message), from: peer) }
  }

  public func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {
    delegate?.network(self, peer, isCrowded: isCrowded)
  }
}
