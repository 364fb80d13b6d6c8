import Cryptography
import Foundation

/// The key derived from a passcode. Deriving it is slow on purpose: a peer that has seen one proof, and wants to find
/// the passcode by trying, needs as long for each attempt.
struct PasscodeKey: Sendable {
  /// Iterations of PBKDF2. Both ends must use the same number.
  private static let iterationCount = 20_000
  private static let salt = Array("automerge-repo nearby peers, version 1".utf8)

  private let key: [UInt8]

  init(bytes: Data) { key = Array(bytes) }

  /// Derives the key off the actor.
  @concurrent
  static func derive(from passcode: String) async -> PasscodeKey {
    PasscodeKey(bytes: Data(DerivedKey.fromPasscode(Array(passcode.utf8), salt: salt, iterationCount: iterationCount)))
  }

  func proof(of text: Data) -> Data { Data(HMAC.code(for: Array(text), key: key)) }

  /// Takes the same time for every wrong proof.
  func isProof(_ proof: Data, of text: Data) -> Bool { HMAC.isCode(Array(proof), for: Array(text), key: key) }
}
