import AutomergeRepo
import Foundation

/// The name of a row of `chunk`: a key of the form `[document, "snapshot" or "incremental", SHA-256]`.
struct ChunkName: Hashable, Sendable {
  enum Kind: String, Sendable { case snapshot, incremental }

  /// In the form of the database, with escapes.
  var document: String
  var kind: Kind
  /// 32 bytes.
  var sha256: Data

  init(document: String, kind: Kind, sha256: Data) {
    (self.document, self.kind, self.sha256) = (document, kind, sha256)
  }

  /// Nil for all other keys, whose values are rows of `record`.
  init?(_ key: StorageKey) {
    guard key.count == 3, let kind = Kind(rawValue: key[1]), let sha256 = Self.bytes(ofHexadecimal: key[2]) else {
      return nil
    }
    self.init(document: StorageKeyText.escaped(key[0]), kind: kind, sha256: sha256)
  }

  private static func bytes(ofHexadecimal text: String) -> Data? {
    guard text.utf8.count == 64 else { return nil }
    var bytes = Data(capacity: 32)
    var high: UInt8?
    for digit in text.utf8 {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }
}
