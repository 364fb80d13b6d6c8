import Cryptography
import Foundation

/// The six digits that two people compare before they trust each other's keys; `code` in messages and on screens.
///
/// They depend on both keys and on a random number of each side, and the inviter has committed to its number before it
/// sees the other's. So an attacker in the middle, who must use other keys, can only guess: each try has a chance of
/// one in a million, and two people see it.
enum ShortAuthenticationString {
  private static let commitmentTag = Array("notes-lsp commitment 1".utf8)
  private static let digitsTag = Array("notes-lsp digits 1".utf8)

  /// The commitment that the inviter sends before it reveals `nonce`.
  static func commitment(to nonce: [UInt8], inviter: [UInt8], invited: [UInt8]) -> [UInt8] {
    Array(SHA256.hash(data: commitmentTag + nonce + inviter + invited))
  }

  /// - Parameters: both fingerprints, and both numbers.
  static func digits(
    inviter: [UInt8], inviterNonce: [UInt8], invited: [UInt8], invitedNonce: [UInt8]
  ) -> String {
    let code = HMAC.code(for: digitsTag + inviter + invited, key: inviterNonce + invitedNonce)
    let number = code.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
    let digits = String(number)
    return String(repeating: "0", count: 6 - digits.count) + digits
  }
}
