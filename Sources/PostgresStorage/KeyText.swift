import AutomergeRepo

/// How keys are written in the database: each name followed by `/`, so that a prefix of names is a prefix of text.
///
/// In a name `/`, `%` and NUL are `%` and two hexadecimal digits; everything else stands for itself.
enum KeyText {
  /// The longest key, written out: a third of what a page of an index may hold.
  static let maximumByteCount = 2048

  static func encode(_ key: StorageKey) throws(StorageError) -> String {
    guard !key.isEmpty else { throw .invalidKey(key) }
    let text = prefix(key)
    guard text.utf8.count <= maximumByteCount else { throw .invalidKey(key) }
    return text
  }

  /// What the keys below `prefix` begin with; empty for all keys.
  static func prefix(_ prefix: StorageKey) -> String {
    prefix.reduce(into: "") { text, name in text += escaped(name) + "/" }
  }

  /// The first text after all those that begin with `prefix`, which ends with `/`.
  static func end(ofPrefix prefix: String) -> String { prefix.dropLast() + "0" }

  /// Nil if no key is written so.
  static func decode(_ text: String) -> StorageKey? {
    guard text.utf8.last == UInt8(ascii: "/") else { return nil }
    var key: StorageKey = []
    for name in text.utf8.dropLast().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let plain = unescaped(name) else { return nil }
      key.append(plain)
    }
    return key
  }

  static func escaped(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 == 0 || $0 == 0x25 || $0 == 0x2F }) else { return name }
    var text: [UInt8] = []
    for byte in name.utf8 {
      switch byte {
      case 0: text += "%00".utf8
      case 0x25: text += "%25".utf8
      case 0x2F: text += "%2f".utf8
      default: text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  static func unescaped(_ name: some Sequence<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = name.makeIterator()
    while let byte = rest.next() {
      guard byte == 0x25 else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next(), let low = rest.next(),
        let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
