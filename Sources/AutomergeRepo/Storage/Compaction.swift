import Automerge

/// Merges a document's chunks in the store when there are many.
@AutomergeRepo
final class Compaction {
  /// Below this size, merging is not worth the write. Source: Storage.md, "Compaction".
  static let minimumByteCount = 64 << 10

  /// The chunk that has replaced others.
  struct Merged: Sendable {
    let key: StorageKey
    let heads: Set<ChangeHash>
    fileprivate let snapshotByteCount: Int
    fileprivate let mergedByteCount: Int
  }

  private let id: DocumentId
  private let storage: any StorageProvider
  private var snapshotByteCount: Int
  private var incrementalByteCount: Int
  /// After a failure: how many bytes the chunks to merge must have for the next attempt.
  private var postponedByteCount = 0
  private var work: Task<Void, Never>?

  init(id: DocumentId, storage: any StorageProvider, loaded: StoredChunks?) {
    (self.id, self.storage) = (id, storage)
    snapshotByteCount = loaded?.snapshotByteCount ?? 0
    incrementalByteCount = loaded?.incrementalByteCount ?? 0
  }

  /// How many bytes the chunks have.
  var byteCount: Int { snapshotByteCount + incrementalByteCount }

  /// Whether chunks are being merged in the background.
  var isRunning: Bool { work != nil }

  func finish() async { await work?.value }

  func wrote(_ chunks: [StoredItem]) {
    for chunk in chunks {
      if chunk.key.dropLast().last == StoredChunks.Kind.snapshot.rawValue {
        snapshotByteCount += chunk.data.count
      } else {
        incrementalByteCount += chunk.data.count
      }
    }
  }

  /// Compares with the text's size, too: a snapshot may be many times smaller than its text, but a merge reads and
  /// writes all of the text.
  func isDue(textByteCount: Int) -> Bool {
    let least = max(Self.minimumByteCount, snapshotByteCount, textByteCount / 2, postponedByteCount)
    return work == nil && incrementalByteCount >= least
  }

  /// Merges in the background.
  ///
  /// - Parameter ended: called at the end, with nil if nothing was merged because a chunk is damaged or depends on a
  ///   missing one
  func start(ended: @escaping @AutomergeRepo (Result<Merged?, StorageError>) -> Void) {
    work = Task {
      let result: Result<Merged?, StorageError>
      do throws(StorageError) {
        let merged = try await self.run()
        // Try again when as much again has been added.
        if merged == nil { self.snapshotByteCount = max(self.snapshotByteCount, self.incrementalByteCount * 2) }
        result = .success(merged)
      } catch {
        // A disk that is almost full takes small writes, and each would begin another attempt.
        self.postponedByteCount = self.incrementalByteCount + Self.minimumByteCount
        result = .failure(error)
      }
      self.work = nil
      ended(result)
    }
  }

  /// Merges now. Nil if nothing was merged because a chunk is damaged or depends on a missing one, or the
  /// result cannot be read.
  func run() async throws(StorageError) -> Merged? {
    guard let merged = try await Self.merge(id, in: storage) else { return nil }
    (snapshotByteCount, postponedByteCount) = (merged.snapshotByteCount, 0)
    incrementalByteCount = max(0, incrementalByteCount - merged.mergedByteCount)
    return merged
  }

  /// Merges the chunks in the store, whichever process wrote them, and removes exactly those that it merged. Does not
  /// touch the document in memory.
  @concurrent
  private static func merge(
    _ id: DocumentId, in storage: any StorageProvider
  ) async throws(StorageError) -> Merged? {
    let chunks = try await StoredChunks.load(id, from: storage)
    guard chunks.isComplete, let document = chunks.document else { return nil }
    let snapshot = document.save()
    // The chunks are removed only for what can be read in their place.
    let readAgain = Document()
    guard readAgain.applyChunks([snapshot], areOwn: true).isEmpty, readAgain.heads() == document.heads() else {
      return nil
    }
    let key = StoredChunks.key(.snapshot, id, snapshot)
    let merged = chunks.used.keys.filter { $0 != key }.map { StorageChange.remove($0) }
    try await storage.commit([.save(StoredItem(key: key, data: snapshot))] + merged)
    return Merged(
      key: key, heads: document.heads(), snapshotByteCount: snapshot.count,
      mergedByteCount: chunks.incrementalByteCount)
  }
}
