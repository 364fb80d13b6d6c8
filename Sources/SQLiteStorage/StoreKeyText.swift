import AutomergeRepo

/// How keys stand in the database: each component followed by `/`, so that a prefix of components is a prefix of text.
///
/// In a component `/`, `%` and NUL are `%` and two hexadecimal digits; everything else stands for itself.
enum StoreKeyText {
  /// The longest key, written out.
  static let maximumByteCount = 4096

  static func encode(_ key: StorageKey) throws(StorageError) -> String {
    guard !key.isEmpty else { throw .invalidKey(key) }
    let text = prefix(key)
    guard text.utf8.count <= maximumByteCount else { throw .invalidKey(key) }
    return text
  }

  /// What the keys below `prefix` begin with; empty for all keys.
  static func prefix(_ prefix: StorageKey) -> String {
    prefix.reduce(into: "") { text, component in text += escaped(component) + "/" }
  }

  /// The first text after all those that begin with `prefix`, which ends with `/`.
  static func end(ofPrefix prefix: String) -> String { prefix.dropLast() + "0" }

  /// Nil if it is none of ours.
  static func decode(_ text: String) -> StorageKey? {
    guard text.hasSuffix("/") else { return nil }
    var key: StorageKey = []
    for component in text.utf8.dropLast().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let plain = unescaped(component) else { return nil }
      key.append(plain)
    }
    return key
  }

  /// Whether a key ends with the SHA-256 of its value, in hexadecimal, so that a reader can verify the value.
  static func namesContent(_ key: StorageKey) -> Bool {
    guard let last = key.last, last.utf8.count == 64 else { return false }
    return last.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  private static func escaped(_ component: String) -> String {
    guard component.utf8.contains(where: { $0 == 0 || $0 == 0x25 || $0 == 0x2F }) else { return component }
    var text: [UInt8] = []
    for byte in component.utf8 {
      switch byte {
      case 0: text += "%00".utf8
      case 0x25: text += "%25".utf8
      case 0x2F: text += "%2f".utf8
      default: text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func unescaped(_ component: Substring.UTF8View.SubSequence) -> String? {
    var bytes: [UInt8] = []
    var rest = component[...]
    while let byte = rest.popFirst() {
      guard byte == 0x25 else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst(), let low = rest.popFirst(),
        let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
