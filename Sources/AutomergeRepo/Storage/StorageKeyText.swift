/// How storage providers write keys in a database: each component followed by `/`, so that a prefix of components is a
/// prefix of the text.
///
/// In a component, `/`, `%` and NUL become `%` and two hexadecimal digits; everything else is unchanged.
package enum StorageKeyText {
  /// - Parameter maximumByteCount: the length of the longest key's text
  /// - Throws: `invalidKey` for an empty key, and for one that is longer.
  package static func encode(_ key: StorageKey, maximumByteCount: Int) throws(StorageError) -> String {
    guard !key.isEmpty else { throw .invalidKey(key) }
    let text = prefix(key)
    guard text.utf8.count <= maximumByteCount else { throw .invalidKey(key) }
    return text
  }

  /// The text that all keys below `prefix` begin with; empty for all keys.
  package static func prefix(_ prefix: StorageKey) -> String {
    prefix.reduce(into: "") { text, name in text += escaped(name) + "/" }
  }

  /// The first text after all those that begin with `prefix`, which ends with `/`.
  package static func end(ofPrefix prefix: String) -> String { prefix.dropLast() + "0" }

  /// Nil if `text` is not the text of a key.
  package static func decode(_ text: String) -> StorageKey? {
    guard text.utf8.last == UInt8(ascii: "/") else { return nil }
    var key: StorageKey = []
    for name in text.utf8.dropLast().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let plain = unescaped(name) else { return nil }
      key.append(plain)
    }
    return key
  }

  package static func escaped(_ name: String) -> String {
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

  package static func unescaped(_ name: some Sequence<UInt8>) -> String? {
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
