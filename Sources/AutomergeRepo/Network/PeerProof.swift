/// What the other end of a connection has proved about itself. The transport finds this out, the network provider
/// passes it to the repo, and a share policy may depend on it.
public enum PeerProof: Hashable, Sendable {
  /// It has the key with this fingerprint, and may call itself by that key's peer id only.
  case key(fingerprint: [UInt8])
  /// It runs on this machine, as the same user as this process.
  case sameUser
  /// It has shown a token that the provider has accepted. It has no key, so it may use no peer id that belongs to a key.
  case token(String)
  /// It answers at this address, which this person has named. With encryption, a certificate has confirmed the address.
  case address(String)
}
