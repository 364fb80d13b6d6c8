import Cryptography

/// Base58 with a checksum, the text form of document ids: the payload, then the first four bytes of its double SHA-256.
enum Base58Check {
  private static let alphabet = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
  private static let digits: [UInt8] = {
    var digits = [UInt8](repeating: 0xff, count: 256)
    for (value, character) in alphabet.enumerated() { digits[Int(character)] = UInt8(value) }
    return digits
  }()

  static func encode(_ payload: [UInt8]) -> String {
    let bytes = payload + checksum(of: payload)
    var digits: [UInt8] = []
    for byte in bytes {
      var carry = Int(byte)
      for index in digits.indices {
        carry += Int(digits[index]) << 8
        digits[index] = UInt8(carry % 58)
        carry /= 58
      }
      while carry > 0 {
        digits.append(UInt8(carry % 58))
        carry /= 58
      }
    }
    let zeros = bytes.prefix { $0 == 0 }.count
    let characters = Array(repeating: alphabet[0], count: zeros) + digits.reversed().map { alphabet[Int($0)] }
    return String(decoding: characters, as: UTF8.self)
  }

  /// The payload of `text`; nil if the text is longer than `maximumCharacters`, has a letter outside Base58, or a wrong
  /// checksum.
  /// - Complexity: O(n²) in the characters, hence the limit.
  static func decode(_ text: some StringProtocol, maximumCharacters: Int = 64) -> [UInt8]? {
    let characters = Array(text.utf8.prefix(maximumCharacters + 1))
    guard characters.count <= maximumCharacters else { return nil }
    var bytes: [UInt8] = []
    for character in characters {
      var carry = Int(digits[Int(character)])
      guard carry < 58 else { return nil }
      for index in bytes.indices {
        carry += Int(bytes[index]) * 58
        bytes[index] = UInt8(carry & 0xff)
        carry >>= 8
      }
      while carry > 0 {
        bytes.append(UInt8(carry & 0xff))
        carry >>= 8
      }
    }
    let zeros = characters.prefix { $0 == alphabet[0] }.count
    let all = Array(repeating: 0, count: zeros) + bytes.reversed()
    guard all.count >= 4 else { return nil }
    let payload = Array(all.dropLast(4))
    guard checksum(of: payload) == Array(all.suffix(4)) else { return nil }
    return payload
  }

  private static func checksum(of payload: [UInt8]) -> [UInt8] {
    Array(SHA256.hash(data: Array(SHA256.hash(data: payload))).prefix(4))
  }
}
