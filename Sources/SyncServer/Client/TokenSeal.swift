import AutomergeRepo
import Crypto
import Foundation
import PeerTransport

/// Seals tokens for the store, so that a copy of the store gives no access to servers: the key is derived from the
/// person's private key, which is in a file of its own (`identity.pem`).
///
/// AES-256-GCM under a key of HKDF-SHA256; a sealed text is its nonce of 12 bytes, the ciphertext, and a tag of 16 bytes.
public struct TokenSeal: Sendable {
  private static let purpose = "notes-lsp: tokens of servers, 1"
  private static let nonceByteCount = 12

  private let key: SymmetricKey
  private var random: RandomSource

  public init(_ identity: Identity, random: RandomSource = RandomSource()) {
    key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: identity.privateKey), info: Data(Self.purpose.utf8), outputByteCount: 32)
    self.random = random
  }

  /// - Parameter place: what the text belongs to, stored in the clear. The text can be opened only for the same place.
  mutating func seal(_ text: String, for place: String) -> Data? {
    let nonce = try? AES.GCM.Nonce(data: random.bytes(Self.nonceByteCount))
    return try? AES.GCM.seal(Data(text.utf8), using: key, nonce: nonce, authenticating: Data(place.utf8)).combined
  }

  /// Nil if the text was sealed with another key or for another place, or was changed.
  func open(_ sealed: Data, for place: String) -> String? {
    guard let box = try? AES.GCM.SealedBox(combined: sealed),
      let bytes = try? AES.GCM.open(box, using: key, authenticating: Data(place.utf8))
    else { return nil }
    return String(data: bytes, encoding: .utf8)
  }
}
