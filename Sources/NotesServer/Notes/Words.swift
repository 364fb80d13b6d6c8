/// Counts words: runs of anything but white space.
enum Words {
  /// - Complexity: O(n) in the bytes.
  static func count(_ text: [UInt8]) -> Int {
    // The compiler vectorizes this: no step depends on the result for the previous byte.
    text.withUnsafeBufferPointer { bytes in
      guard let first = bytes.first else { return 0 }
      var count = 1 - spaces(first)
      for index in 1..<bytes.count { count &+= spaces(bytes[index - 1]) & (1 - spaces(bytes[index])) }
      return count
    }
  }

  /// 1 for white space, else 0.
  private static func spaces(_ byte: UInt8) -> Int { byte == 0x20 || byte &- 0x09 < 5 ? 1 : 0 }
}
