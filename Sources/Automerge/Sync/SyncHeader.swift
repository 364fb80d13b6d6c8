import Foundation

/// What a sync message says before its changes, read without decoding those.
///
/// Layout: type, heads, needed hashes, what the sender has (hashes and a filter, several times), changes, flags.
/// Source: automerge-format, section 7.1.
package struct SyncHeader {
  package let heads: [ChangeHash]
  /// How many changes the sender asks for.
  package let needCount: Int
  package let changeCount: Int
  /// Stands at the first of the changes.
  let changes: ByteReader

  /// Nil if the bytes end early, have a wrong count, or are not a sync message.
  package init?(_ message: Data) {
    do throws(FormatError) { try self.init(reading: message) } catch { return nil }
  }

  private init(reading message: Data) throws(FormatError) {
    var reader = ByteReader(message.withUnsafeBytes { Array($0) })
    guard SyncMessage.Version(rawValue: try reader.byte()) != nil else { throw .invalid(.messageType, at: 0) }
    heads = try reader.hashes()
    needCount = try reader.hashes().count
    for _ in 0..<(try reader.count(itemByteCount: 2)) {
      _ = try reader.hashes()
      _ = try reader.lengthPrefixed()
    }
    changeCount = try reader.count(itemByteCount: 1)
    changes = reader
  }
}
