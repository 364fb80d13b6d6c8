import Foundation

/// The part of a sync message before its changes, read without decoding those. Every keystroke of a peer is first
/// examined in this way, so nothing is copied out of the message until it is needed.
///
/// Layout: type, heads, needed hashes, what the sender has (hashes and a filter, several times), changes, flags.
/// Source: automerge-format, section 7.1.
package struct SyncHeader {
  package var heads: [ChangeHash] {
    var reader = headList
    // The count was checked when the message was opened.
    return (try? reader.hashes()) ?? []
  }
  /// Begins at the count of the heads.
  private let headList: ByteReader
  /// How many changes the sender asks for.
  package let needCount: Int
  package let changeCount: Int
  /// Begins at the first change.
  let changes: ByteReader

  /// Nil if the bytes end early, contain a wrong count, or are not a sync message.
  package init?(_ message: Data) {
    do throws(FormatError) { try self.init(reading: message) } catch { return nil }
  }

  private init(reading message: Data) throws(FormatError) {
    var reader = ByteReader(message.withUnsafeBytes { Array($0) })
    guard SyncMessage.Version(rawValue: try reader.byte()) != nil else { throw .invalid(.messageType, at: 0) }
    headList = reader
    try reader.skipHashes()
    needCount = try reader.skipHashes()
    for _ in 0..<(try reader.count(itemByteCount: 2)) {
      try reader.skipHashes()
      try reader.skipLengthPrefixed()
    }
    changeCount = try reader.count(itemByteCount: 1)
    changes = reader
  }
}
