import AutomergeRepo

extension PeerProof {
  /// Whether a connection with this proof may belong to a peer with this id.
  package func permits(_ peer: PeerId) -> Bool {
    switch self {
    case .key(let fingerprint): peer == Identity.peerId(of: fingerprint)
    case .sameUser: true
    case .token, .address: Identity.fingerprint(of: peer) == nil
    }
  }

  /// The only peer that may have this proof; nil if several may.
  package var peer: PeerId? {
    if case .key(let fingerprint) = self { Identity.peerId(of: fingerprint) } else { nil }
  }
}
