import Automerge
import Cryptography
import Foundation

/// One document's rows in a store: its chunks, named by their content, so that two writers never collide, and what is kept
/// beside them.
struct StoredChunks: Sendable {
  enum Kind: String { case snapshot, incremental }

  /// The document, or nil if nothing could be read.
  var document: Document?
  /// The keys of the chunks that `document` contains, with their sizes.
  var used: [StorageKey: Int] = [:]
  var snapshotByteCount = 0
  var incrementalByteCount = 0
  /// Chunks that do not match their names, or that the document rejected.
  var damaged: [StorageKey] = []
  /// The damaged chunks that do not match their names. The store sets them aside, so that intact ones can replace them.
  private var forged: [StoredItem] = []
  /// Changes that were removed from the document for good, and the rows that record this.
  private(set) var discarded: Set<ChangeHash> = []
  private(set) var discardedRows: Set<StorageKey> = []
  /// The rows of the document's signatures.
  private(set) var signatures: [StoredItem] = []
  /// The rows that record what is shared with peers' stores.
  private(set) var syncStates: [StoredItem] = []
  /// What was read of the document's history.
  private(set) var mark = HistoryMark()
  /// Whether the chunks still contained some of the discarded changes.
  private(set) var hasDiscarded = false

  static func key(_ kind: Kind, _ id: DocumentId, _ data: Data) -> StorageKey {
    [id.description, kind.rawValue, hash(data)]
  }

  static func hash(_ data: Data) -> String { hexadecimal(SHA256.hash(data: data)) }

  /// Reads all rows of a document at once, and merges its chunks, off the actor. A bad chunk does not affect the
  /// others.
  @concurrent
  static func load(_ id: DocumentId, from storage: any StorageProvider) async throws(StorageError) -> StoredChunks {
    let rows = Dictionary(grouping: try await storage.loadRange([id.description])) { $0.key.dropFirst().first ?? "" }
    var chunks = StoredChunks()
    let snapshots = rows[Kind.snapshot.rawValue] ?? []
    chunks.merge(snapshots.sorted { $0.data.count > $1.data.count })
    chunks.merge(rows[Kind.incremental.rawValue] ?? [])
    for item in rows[DiscardedChanges.name] ?? [] {
      chunks.discarded.formUnion(DiscardedChanges.decode(item))
      chunks.discardedRows.insert(item.key)
    }
    chunks.signatures = rows[StoredSignatures.name] ?? []
    chunks.syncStates = rows[SyncStates.name] ?? []
    chunks.hasDiscarded = chunks.document?.discardAgain(chunks.discarded) ?? false
    for item in chunks.forged { try await storage.setAside(item) }
    chunks.mark = chunks.document?.historyMark ?? HistoryMark()
    return chunks
  }

  private mutating func merge(_ items: [StoredItem]) {
    var intact: [StoredItem] = []
    for item in items {
      if item.key.last == StoredChunks.hash(item.data) {
        intact.append(item)
      } else {
        damaged.append(item.key)
        forged.append(item)
      }
    }
    let document = document ?? Document()
    let rejected = Set(document.applyChunks(intact.map(\.data), areOwn: true))
    for (place, item) in intact.enumerated() {
      guard !rejected.contains(place) else {
        damaged.append(item.key)
        continue
      }
      self.document = document
      used[item.key] = item.data.count
      if item.key.dropLast().last == Kind.snapshot.rawValue {
        snapshotByteCount += item.data.count
      } else {
        incrementalByteCount += item.data.count
      }
    }
  }

  /// Whether the store has nothing of the document, not even something damaged.
  var isNothing: Bool { document == nil && damaged.isEmpty && discardedRows.isEmpty }

  /// Whether this is a document that was stored before its first change.
  var isEmptyDocument: Bool {
    snapshotByteCount > 0 && damaged.isEmpty && discardedRows.isEmpty && document?.isUntouched == true
  }

  /// Whether every change that was read has been applied: none waits for a missing one.
  var isComplete: Bool { damaged.isEmpty && document?.hasWaitingChanges == false }
}
