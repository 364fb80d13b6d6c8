import AutomergeRepo
import PeerTransport

/// Links to peers: the provider as the parts of the directory see it.
@AutomergeRepo
protocol PeerLinking: AnyObject {
  func isConnected(_ peer: PeerId) -> Bool
  /// The address at which a connected peer was called; nil if it called us.
  func dialledAddress(of peer: PeerId) -> PeerAddress?
  func connect(toAnyOf addresses: [PeerAddress], expecting peer: PeerId?) async throws(PeerNetworkError) -> PeerId
  /// Says nothing to a peer whose fingerprint does not begin with these bytes.
  func connect(to address: PeerAddress, keyBeginningWith start: [UInt8]) async throws(PeerNetworkError) -> PeerId
  /// Closes the link; a peer to be kept connected is called again.
  func disconnect(_ peer: PeerId)
  func keepConnected(to peer: PeerId, at addresses: [PeerAddress])
  /// Stops calling a peer. Its link stays.
  func forget(_ peer: PeerId)
  func callNow(_ peer: PeerId)
  /// Lets a connected peer send long messages from now on.
  func trust(_ peer: PeerId)
  /// A peer was heard at other addresses than that of its link, which may be gone.
  func probe(_ peer: PeerId, heardAt addresses: [PeerAddress])
}

extension TCPProvider: PeerLinking {}
