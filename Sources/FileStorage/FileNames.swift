import AutomergeRepo

/// Maps keys to paths: a directory for each component but the last, which names a file ending in `.bin`.
///
/// Letters, digits, `-` and `_` stay as they are; every other byte becomes `%` and two hexadecimal digits, so that no
/// component can name another directory, a hidden file, or something that only differs by Unicode normalisation.
enum FileNames {
  static let ending = ".bin"
  /// File systems' common limit, less the ending.
  static let maximumNameBytes = 240

  static func file(of key: StorageKey) throws(StorageError) -> String {
    guard let last = key.last else { throw .invalidKey(key) }
    return try directory(of: key.dropLast()) + name(of: last, key) + ending
  }

  /// Empty, or ending with a slash.
  static func directory(of prefix: StorageKey) throws(StorageError) -> String {
    var path = ""
    for component in prefix { path += try name(of: component, prefix) + "/" }
    return path
  }

  /// The component of a file's or directory's name; nil if it is not one of ours.
  static func component(ofEntry name: String) -> String? {
    component(name.hasSuffix(ending) ? name.dropLast(ending.count) : name[...])
  }

  private static func name(of component: String, _ key: StorageKey) throws(StorageError) -> String {
    // An empty component still needs a name, which no other component has.
    if component.isEmpty { return "%" }
    var name = ""
    for byte in component.utf8 {
      if isPlain(byte) {
        name.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        name += "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }
    }
    guard name.utf8.count <= maximumNameBytes else { throw .invalidKey(key) }
    return name
  }

  private static func component(_ name: Substring) -> String? {
    if name == "%" { return "" }
    var bytes: [UInt8] = []
    var rest = name.utf8[...]
    while let byte = rest.popFirst() {
      if isPlain(byte) {
        bytes.append(byte)
      } else {
        guard byte == UInt8(ascii: "%"), let high = rest.popFirst(), let low = rest.popFirst(),
          let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
        else { return nil }
        bytes.append(value)
      }
    }
    return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
