import AutomergeRepo
import Foundation

/// Two connected peers prove to each other that they know the same passcode, without revealing it. Their keys are
/// proved already, and each proof names both, so it is useless to a third peer.
///
///     first (the smaller id):   greeting ──nonce─(proof)─► waiting ──proof──► agreed
///     second:                   greeting ──nonce──► waiting ──proof─(proof)─► agreed
///
/// The first peer proves first, so the second reveals nothing but its refusal to a peer that does not know the
/// passcode. A peer that has a proof can test passcodes on it, though `PasscodeKey` makes this slow; so choose one that
/// cannot be guessed.
struct PasscodeHandshake {
  static let messageType = "passcode"
  static let nonceByteCount = 32

  enum Effect: Equatable {
    case send([String: CBOR])
    case agreed
    case refused
  }

  private enum State {
    case greeting
    case waiting(theirNonce: Data)
    case ended
  }

  private let key: PasscodeKey
  private let local: PeerId
  private let peer: PeerId
  private let nonce: Data
  private var state = State.greeting

  /// - Parameter nonce: 32 random bytes, never used before
  init(key: PasscodeKey, local: PeerId, peer: PeerId, nonce: Data) {
    (self.key, self.local, self.peer, self.nonce) = (key, local, peer, nonce)
  }

  private var isFirst: Bool { local < peer }

  /// The first message of both sides.
  func begin() -> [Effect] { [.send(["nonce": .bytes(nonce)])] }

  /// Handles a message of type `passcode` from the peer.
  mutating func receive(_ fields: [String: CBOR]) -> [Effect] {
    switch (state, fields["nonce"]?.bytes, fields["proof"]?.bytes) {
    case (.greeting, let theirs?, nil) where theirs.count == Self.nonceByteCount && theirs != nonce:
      state = .waiting(theirNonce: theirs)
      return isFirst ? [.send(["proof": .bytes(key.proof(of: text(by: local, theirs)))])] : []
    case (.waiting(let theirs), nil, let proof?):
      state = .ended
      // Tell the peer, so that it does not call again.
      guard key.isProof(proof, of: text(by: peer, theirs)) else {
        return [.send(["refused": .bool(true)]), .refused]
      }
      return (isFirst ? [] : [.send(["proof": .bytes(key.proof(of: text(by: local, theirs)))])]) + [.agreed]
    case (.ended, _, _): return []
    case (.greeting, _, _), (.waiting, _, _):
      state = .ended
      return [.refused]
    }
  }

  /// The text that a side proves: that it knows the key, in this meeting of these two peers.
  private func text(by author: PeerId, _ theirs: Data) -> Data {
    let (first, second) = isFirst ? (local, peer) : (peer, local)
    let nonces = isFirst ? nonce + theirs : theirs + nonce
    let record = CBOR.array(
      [first, second, author].map { .text($0.description) } + [.bytes(nonces), "automerge-repo nearby peers"])
    return Data(record.encoded())
  }
}
