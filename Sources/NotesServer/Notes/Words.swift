/// Counts words as people do: runs of anything between white space.
enum Words {
  /// - Complexity: O(n) in the bytes.
  static func count(_ text: [UInt8]) -> Int {
    var count = 0
    var isInside = false
    for byte in text {
      let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
      if !isSpace && !isInside { count += 1 }
      isInside = !isSpace
    }
    return count
  }
}
