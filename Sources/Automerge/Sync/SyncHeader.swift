import Foundation

/// What a sync message says before its changes, read without decoding those. Every keystroke of a peer is looked at in this way
/// before it is decoded, so nothing is copied out of the message until it is asked for.
///
/// Layout: type, heads, needed hashes, what the sender has (hashes and a filter, several times), changes, flags.
/// Source: automerge-format, section 7.1.
package struct SyncHeader {
  package var heads: [ChangeHash] {
    var reader = headList
    // Their count was checked when the message was opened.
    return (try? reader.hashes()) ?? []
  }
  /// Stands at the count of the heads.
  private let headList: ByteReader
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
