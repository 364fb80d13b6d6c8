import Automerge
import Cryptography

/// A token of the access file, as its digest: the token itself is neither kept in memory nor logged.
public struct AccessToken: Hashable, Sendable {
  /// The prefix of an entry of the access file that is a digest, for files without plain tokens.
  static let digestPrefix = "sha256:"

  private let digest: [UInt8]

  public init(_ text: String) { digest = Array(SHA256.hash(data: Array(text.utf8))) }

  /// Takes a digest as `hexadecimal` writes it; nil for anything else.
  init?(hexadecimal text: String) {
    let digits = Array(text.utf8).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard text.utf8.count == 2 * SHA256.byteCount, digits.count == text.utf8.count else { return nil }
    digest = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// The digest.
  var hexadecimal: String { Automerge.hexadecimal(digest) }

  /// Compares in constant time, so that the time does not reveal how much of the two is equal.
  func isEqual(to other: AccessToken) -> Bool {
    var difference: UInt8 = 0
    for index in digest.indices { difference |= digest[index] ^ other.digest[index] }
    return difference == 0
  }
}

extension AccessToken: CustomStringConvertible {
  /// Enough to distinguish tokens in a log.
  public var description: String { "token \(hexadecimal.prefix(6))" }
}
