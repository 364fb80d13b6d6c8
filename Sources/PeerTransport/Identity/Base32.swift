/// Base32 in lower case without padding, used for fingerprints and tickets, because people can read it aloud.
package enum Base32 {
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var characters: [UInt8] = []
    var (bits, bitCount) = (0, 0)
    for byte in bytes {
      bits = (bits << 8 | Int(byte)) & 0xfff
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        characters.append(alphabet[bits >> bitCount & 31])
      }
    }
    if bitCount > 0 { characters.append(alphabet[bits << (5 - bitCount) & 31]) }
    return String(decoding: characters, as: UTF8.self)
  }

  /// Nil if a character is not one of the 32, in either case, or if the remaining bits are not zero.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, bitCount) = (0, 0)
    for character in text.utf8 {
      let value: Int
      switch character {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = Int(character - UInt8(ascii: "a"))
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = Int(character - UInt8(ascii: "A"))
      case UInt8(ascii: "2")...UInt8(ascii: "7"): value = Int(character - UInt8(ascii: "2")) + 26
      default: return nil
      }
      bits = (bits << 5 | value) & 0xfff
      bitCount += 5
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
      }
    }
    guard bitCount < 5, bits & ((1 << bitCount) - 1) == 0 else { return nil }
    return bytes
  }
}
