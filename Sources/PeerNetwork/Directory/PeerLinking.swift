import AutomergeRepo
import PeerTransport

/// Links to peers: the provider as the parts of the directory see it.
@AutomergeRepo
protocol PeerLinking: AnyObject {
  func isConnected(_ peer: PeerId) -> Bool
  /// The address at which a connected peer was called; nil if it called us.
  func dialledAddress(of peer: PeerId) -> PeerAddress?
  func connect(toAnyOf addresses: [PeerAddress], expecting peer: PeerId?) async throws(PeerNetworkError) -> PeerId
  /// Calls an address, but sends nothing to a peer whose fingerprint does not begin with these bytes.
  func connect(to address: PeerAddress, keyBeginningWith start: [UInt8]) async throws(PeerNetworkError) -> PeerId
  /// Closes the link. A peer that is to be kept connected is called again.
  func disconnect(_ peer: PeerId)
  func keepConnected(to peer: PeerId, at addresses: [PeerAddress])
  /// Stops calling a peer. Its link stays.
  func forget(_ peer: PeerId)
  func callNow(_ peer: PeerId)
  /// Lets a connected peer send long messages from now on.
  func trust(_ peer: PeerId)
  /// Call when a peer was heard at other addresses than that of its link, which may be dead.
  func probe(_ peer: PeerId, heardAt addresses: [PeerAddress])
}

extension TCPProvider: PeerLinking {}
