import Crypto

/// A token of the access file, as its digest: the token itself is in no memory and in no log.
public struct AccessToken: Hashable, Sendable {
  /// With what an entry of the access file begins that is a digest, so that the file has no token in the clear.
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
  var hexadecimal: String { digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }

  /// In constant time: says nothing of how much of the two is equal.
  func isEqual(to other: AccessToken) -> Bool {
    var difference: UInt8 = 0
    for index in digest.indices { difference |= digest[index] ^ other.digest[index] }
    return difference == 0
  }
}

extension AccessToken: CustomStringConvertible {
  /// Enough to tell tokens apart in a log.
  public var description: String { "token \(hexadecimal.prefix(6))" }
}
