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
  /// Whether the heads are no more than a message may have.
  package var isPlausible: Bool {
    var reader = headList
    return (try? reader.skipHashes()).map { $0 <= SyncMessage.Limit.heads } ?? false
  }
  /// Begins at the count of the heads.
  private let headList: ByteReader
  /// How many changes the sender asks for.
  package let needCount: Int
  /// How many changes the sender has, if the message describes all of them.
  package let senderChangeCount: Int?
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
    var described: Int?
    for place in 0..<(try reader.count(itemByteCount: 2)) {
      let sharedCount = try reader.skipHashes()
      let filter = try reader.lengthPrefixed()
      if place == 0, sharedCount == 0 { described = BloomFilter.entryCount(in: filter) }
    }
    senderChangeCount = described
    changeCount = try reader.count(itemByteCount: 1)
    changes = reader
  }
}
