import Automerge
import Foundation

/// The envelope of an Automerge sync message, read without decoding the changes in it.
///
/// Layout: type, heads, needed hashes, what the sender has (hashes and a filter, several times), changes, flags.
/// Source: automerge-format.md, section 7.
struct SyncOutline {
  let heads: [ChangeHash]
  let needCount: Int
  let changeCount: Int

  /// Nil if the bytes end early, have a wrong count, or are not a sync message.
  init?(_ message: Data) {
    var reader = Reader(bytes: message.withUnsafeBytes { Array($0) })
    guard let type = reader.byte(), type == 0x42 || type == 0x43, let heads = reader.hashes() else { return nil }
    guard let need = reader.hashes(), let haveCount = reader.count(itemBytes: 2) else { return nil }
    for _ in 0..<haveCount {
      guard reader.hashes() != nil, let filterBytes = reader.count(itemBytes: 1) else { return nil }
      reader.position += filterBytes
    }
    guard let changeCount = reader.count(itemBytes: 1) else { return nil }
    (self.heads, needCount, self.changeCount) = (heads, need.count, changeCount)
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    mutating func byte() -> UInt8? {
      guard position < bytes.count else { return nil }
      defer { position += 1 }
      return bytes[position]
    }

    /// Reads a count of items of at least `itemBytes` bytes each that fit in the rest.
    mutating func count(itemBytes: Int) -> Int? {
      var value: UInt64 = 0
      for shift in stride(from: UInt64(0), to: 63, by: 7) {
        guard let byte = byte() else { return nil }
        value |= UInt64(byte & 0x7f) << shift
        guard byte < 0x80 else { continue }
        return value <= UInt64((bytes.count - position) / itemBytes) ? Int(value) : nil
      }
      return nil
    }

    mutating func hashes() -> [ChangeHash]? {
      guard let count = count(itemBytes: 32) else { return nil }
      return (0..<count).compactMap { _ in
        defer { position += 32 }
        return ChangeHash(slice: bytes[position..<position + 32])
      }
    }
  }
}
