import Cryptography
import Foundation

/// The thirty digits that two people who have met can compare at any time: fifteen for each key, the smaller key's first.
///
/// They depend only on the keys, so each side can show them without the other, and an attacker in the middle has
/// unlimited time to search for keys. The attacker needs one key for each half, each a search of 2^50 keys, and every
/// key costs 2^10 hashes.
enum VerificationCode {
  static let digitsPerKey = 15
  private static let rounds = 1 << 10
  private static let tag = Array("notes-lsp verify 1".utf8)

  /// - Parameters: both fingerprints, in any order.
  /// - Complexity: 2048 hashes, about a millisecond.
  static func digits(_ fingerprint: [UInt8], _ other: [UInt8]) -> String {
    let (first, second) = fingerprint.lexicographicallyPrecedes(other) ? (fingerprint, other) : (other, fingerprint)
    return half(of: first) + half(of: second)
  }

  private static func half(of fingerprint: [UInt8]) -> String {
    var digest = SHA256.hash(data: tag + fingerprint)
    for _ in 1..<rounds {
      var hash = SHA256()
      digest.withUnsafeBytes { hash.update(bufferPointer: $0) }
      hash.update(data: fingerprint)
      digest = hash.finalize()
    }
    let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000_000_000_000
    let digits = String(number)
    return String(repeating: "0", count: digitsPerKey - digits.count) + digits
  }
}
