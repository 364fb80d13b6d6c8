import AutomergeRepo

/// What the other end of a connection has proved about itself. The transport finds it out, and the link hands it up.
public enum PeerProof: Hashable, Sendable {
  /// It has the key with this fingerprint, and may call itself by that key's peer id only.
  case key(fingerprint: [UInt8])
  /// It runs as our user on this machine.
  case sameUser
  /// It has shown a token that the provider has accepted. It has no key, so it may use no peer id that belongs to a key.
  case token(String)
  /// It answers at this address, which our person has named. With encryption, a certificate has confirmed the address.
  case address(String)

  /// Whether a connection with this proof may belong to a peer with this id.
  package func permits(_ peer: PeerId) -> Bool {
    switch self {
    case .key(let fingerprint): peer == Identity.peerId(of: fingerprint)
    case .sameUser: true
    case .token, .address: Identity.fingerprint(of: peer) == nil
    }
  }
}

extension PeerProof {
  /// The only peer that may have this proof; nil where several may.
  package var peer: PeerId? {
    if case .key(let fingerprint) = self { Identity.peerId(of: fingerprint) } else { nil }
  }
}
