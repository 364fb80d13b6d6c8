import AutomergeRepo
import Cryptography
import Foundation
import PeerTransport

/// Seals tokens for the store, so that a copy of the store gives no access to servers: the key is derived from the
/// person's private key, which is in a file of its own (`identity.pem`).
///
/// AES-256-GCM under a key of HKDF-SHA256; a sealed text is its nonce of 12 bytes, the ciphertext, and a tag of 16 bytes.
public struct TokenSeal: Sendable {
  private static let purpose = "notes-lsp: tokens of servers, 1"

  private let key: [UInt8]
  private var random: RandomSource

  public init(_ identity: Identity, random: RandomSource = RandomSource()) {
    key = DerivedKey.fromSecret(identity.privateKey, purpose: Array(Self.purpose.utf8))
    self.random = random
  }

  /// - Parameter place: what the text belongs to, stored in the clear. The text can be opened only for the same place.
  mutating func seal(_ text: String, for place: String) -> Data? {
    let nonce = random.bytes(AESGCM.nonceByteCount)
    return AESGCM.seal(Array(text.utf8), with: Array(place.utf8), key: key, nonce: nonce).map { Data($0) }
  }

  /// Nil if the text was sealed with another key or for another place, or was changed.
  func open(_ sealed: Data, for place: String) -> String? {
    AESGCM.open(Array(sealed), with: Array(place.utf8), key: key).flatMap { String(bytes: $0, encoding: .utf8) }
  }
}
