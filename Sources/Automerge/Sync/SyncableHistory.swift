/// What syncing needs to know about a document's changes and do with them.
///
/// The requirements are `mutating` so that hashes and bytes may be computed when they are first needed.
protocol SyncableHistory {
  /// Ascending.
  var syncHeads: [ChangeHash] { mutating get }
  var changeCount: Int { get }

  mutating func hasChange(_ hash: ChangeHash) -> Bool

  /// The deps of a change that was received but waits for some of them; nil if there is no such change.
  mutating func queuedDependencies(of hash: ChangeHash) -> [ChangeHash]?

  /// The changes that are neither among `hashes` nor ancestors of them, in row order. Unknown hashes are ignored.
  /// - Complexity: O(n) in the answer and the ancestors passed on the way, not in the history, when `hashes` are near
  ///   the heads.
  mutating func changesNotAncestors(of hashes: [ChangeHash]) -> [ChangeHash]

  /// The deps of a change of this document.
  mutating func dependencies(of hash: ChangeHash) -> [ChangeHash]

  /// The change as an uncompressed chunk; nil if it is not a change of this document.
  mutating func encodedChange(_ hash: ChangeHash) -> [UInt8]?

  /// Whether the document is sent as changes, a few at a time, even to a peer that has nothing of it: text
  /// that a few large changes inserted hardly gets shorter as a document, and takes long to write as one.
  var goesInParts: Bool { get }

  /// The whole document as a chunk.
  mutating func savedDocument() -> [UInt8]

  /// Applies the good changes of these chunks, which come from a peer.
  mutating func applySynced(_ chunks: [ArraySlice<UInt8>]) throws
}

extension SyncableHistory {
  /// The heads that a message names: no more than the peer accepts. The peer gets the changes below the others all the
  /// same, because what it has does not contain them.
  var namedHeads: [ChangeHash] {
    mutating get { syncHeads.upTo(SyncMessage.Limit.heads) }
  }

  mutating func hasChanges(_ hashes: [ChangeHash]) -> Bool {
    for hash in hashes where !hasChange(hash) { return false }
    return true
  }
}

extension [ChangeHash] {
  /// The first ones: no copy if there are no more.
  func upTo(_ limit: Int) -> [ChangeHash] { count <= limit ? self : Array(prefix(limit)) }
}
