import AutomergeRepo

extension StorageKeyText {
  /// Whether a key ends with the SHA-256 of its value, in hexadecimal, so that a reader can verify the value.
  static func namesContent(_ key: StorageKey) -> Bool {
    guard let last = key.last, last.utf8.count == 64 else { return false }
    return last.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
