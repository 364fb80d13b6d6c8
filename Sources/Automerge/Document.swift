import Foundation

/// What an index into a text counts.
public enum TextEncoding: Hashable, Sendable { case graphemeCluster, unicodeScalar, utf8, utf16 }

/// An Automerge document: one replica of it, with its whole history. Safe to use from several threads.
public final class Document: @unchecked Sendable {
  public let textEncoding: TextEncoding

  public init(textEncoding: TextEncoding = .unicodeScalar) { self.textEncoding = textEncoding }

  /// Loads one or more chunks. Throws `LoadError` if nothing in them can be used.
  public convenience init(_ bytes: Data, textEncoding: TextEncoding = .unicodeScalar) throws { unfinished() }

  public var actor: ActorId {
    get { unfinished() }
    set { unfinished() }
  }

  // Maps
  public func put(obj: ObjId, key: String, value: ScalarValue) throws { unfinished() }
  public func putObject(obj: ObjId, key: String, ty: ObjType) throws -> ObjId { unfinished() }
  public func delete(obj: ObjId, key: String) throws { unfinished() }
  public func get(obj: ObjId, key: String) throws -> Value? { unfinished() }
  public func keys(obj: ObjId) throws -> [String] { unfinished() }
  public func objectType(obj: ObjId) throws -> ObjType { unfinished() }

  // Text; start and delete count in `textEncoding`.
  public func length(obj: ObjId) throws -> UInt64 { unfinished() }
  public func text(obj: ObjId) throws -> String { unfinished() }
  public func spliceText(obj: ObjId, start: UInt64, delete: Int64, value: String? = nil) throws { unfinished() }

  // Text as editors see it: UTF-8 offsets whatever the encoding; an offset inside a scalar is clamped to its start.
  public func spliceText(obj: ObjId, utf8Offset: Int, deleteUTF8: Int, insert: [UInt8]) throws { unfinished() }
  public func textMeasure(obj: ObjId) throws -> TextMeasure { unfinished() }
  /// The measure of the text before the offset. - Complexity: O(log n) in the runs of the text.
  public func textMeasure(obj: ObjId, utf8Offset: Int) throws -> TextMeasure { unfinished() }
  public func textMeasure(obj: ObjId, scalarOffset: Int) throws -> TextMeasure { unfinished() }
  public func textMeasure(obj: ObjId, utf16Offset: Int) throws -> TextMeasure { unfinished() }
  /// The measure of the text before line `line` (from 0), its line feed included; nil if there are fewer lines.
  public func textMeasure(obj: ObjId, line: Int) throws -> TextMeasure? { unfinished() }
  public func textUTF8(obj: ObjId, _ range: Range<Int>) throws -> [UInt8] { unfinished() }
  /// What turned the text as it was at `heads` into what it is now, from left to right.
  public func textEdits(obj: ObjId, since heads: Set<ChangeHash>) throws -> [TextEdit] { unfinished() }

  // Cursors: places that stay put while the text around them changes. A position at the end gives an end cursor.
  public func cursor(obj: ObjId, utf8Offset: Int) throws -> Cursor { unfinished() }
  public func utf8Offset(obj: ObjId, cursor: Cursor) throws -> Int { unfinished() }

  // Changes
  /// Ends the pending transaction; its operations become one change. Nothing pending makes nothing.
  public func commitWith(message: String? = nil, timestamp: Date = Date()) { unfinished() }
  public func heads() -> Set<ChangeHash> { unfinished() }
  public func getHistory() -> [ChangeHash] { unfinished() }
  /// Of `hashes`, those that are not changes of this document.
  public func unknown(_ hashes: Set<ChangeHash>) -> Set<ChangeHash> { unfinished() }
  public func save() -> Data { unfinished() }
  /// The changes since the last `save` or `encodeNewChanges`, as chunks.
  public func encodeNewChanges() -> Data { unfinished() }
  public func encodeChangesSince(heads: Set<ChangeHash>) throws -> Data { unfinished() }
  public func applyEncodedChanges(encoded: Data) throws { unfinished() }
  public func applyEncodedChangesWithTextEdits(encoded: Data) throws -> [TextEdit] { unfinished() }
  public func fork() -> Document { unfinished() }
  public func merge(other: Document) throws { unfinished() }

  // Sync
  public func generateSyncMessage(state: SyncState) -> Data? { unfinished() }
  public func receiveSyncMessage(state: SyncState, message: Data) throws { unfinished() }
  public func receiveSyncMessageWithTextEdits(state: SyncState, message: Data) throws -> [TextEdit] { unfinished() }
}

/// A place in a text or list that moves with what stands there.
public struct Cursor: Hashable, Sendable {
  /// As it travels. Format: automerge-format, section 6.4.
  public let bytes: Data
  public init(bytes: Data) { self.bytes = bytes }
}

func unfinished() -> Never { preconditionFailure("not written yet") }
