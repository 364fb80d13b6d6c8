import Crypto
import Foundation

/// The key derived from a passcode. Deriving it is slow on purpose: a peer that has seen one proof, and wants to find
/// the passcode by trying, needs as long for each attempt.
struct PasscodeKey: Sendable {
  /// Iterations of PBKDF2. Both ends must use the same number.
  private static let iterationCount = 20_000
  private static let salt = Data("automerge-repo nearby peers, version 1".utf8)

  private let key: SymmetricKey

  init(bytes: Data) { key = SymmetricKey(data: bytes) }

  /// Derives the key off the actor. Source of the steps: RFC 8018, section 5.2, with HMAC-SHA256 and one block.
  @concurrent
  static func derive(from passcode: String) async -> PasscodeKey {
    let password = SymmetricKey(data: Data(passcode.utf8))
    var block = Data(HMAC<SHA256>.authenticationCode(for: salt + [0, 0, 0, 1], using: password))
    var sum = [UInt8](block)
    for _ in 1..<iterationCount {
      block = Data(HMAC<SHA256>.authenticationCode(for: block, using: password))
      for (index, byte) in block.enumerated() { sum[index] ^= byte }
    }
    return PasscodeKey(bytes: Data(sum))
  }

  func proof(of text: Data) -> Data { Data(HMAC<SHA256>.authenticationCode(for: text, using: key)) }

  /// Takes the same time for every wrong proof.
  func isProof(_ proof: Data, of text: Data) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: text, using: key)
  }
}
