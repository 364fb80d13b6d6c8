import Automerge
import Foundation

/// Keeps one document stored: gathers its changes, writes them as chunks, merges the chunks when there are many.
@AutomergeRepo
final class DocumentStore {
  /// Below this size the number of chunks does not matter. Source: Storage.md, "Compaction".
  static let smallestCompaction = 64 << 10

  private let id: DocumentId
  private let document: Document
  private let storage: any StorageProvider
  private let clock: any RepoClock

  /// Why the last attempt to store failed; nil since one has succeeded.
  private(set) var problem: StorageError?
  /// Chunks that could not be used when the document was loaded.
  private(set) var damaged: [StorageKey] = []
  /// Called when the stored state, or the problem, has changed.
  var onChange: (() -> Void)?
  /// Called after each write with the time that it took, before `onChange`.
  var onWritten: ((Duration) -> Void)?
  /// What to store beside the document, asked for at each write. It is committed with the chunks, or after them where the
  /// provider has no transactions, so it never refers to changes that are not stored.
  var companions: (@AutomergeRepo () -> [StorageChange])?

  /// What goes into the next write besides.
  private var additions: [StorageChange] = []

  /// The heads that are certainly stored.
  private(set) var storedHeads: Set<ChangeHash> = []

  private var schedule = StorageSchedule()
  private var timer: (any ScheduledAction)?
  private var current = Generation()
  private var stored = Generation()
  private var pending: [StoredItem] = []
  /// How many of them are being written.
  private var writing = 0
  private var snapshotByteCount = 0
  private var incrementalByteCount = 0
  private var work: Task<Void, Never>?
  private var compaction: Task<Void, Never>?
  private var isClosed = false
  /// Changes that were removed from the document, and the rows that record this.
  private var discarded: Set<ChangeHash> = []
  private var discardedRows: Set<StorageKey> = []
  private var isDiscardedStated = true
  /// Whether some of them may still be in the chunks.
  private var mustMerge = false
  private var waiters: [(generation: Generation, continuation: CheckedContinuation<StorageError?, Never>)] = []

  /// How often the document and its companions have changed, and how many of these changes are stored.
  private struct Generation: Equatable {
    var document = 0
    var companions = 0

    func covers(_ other: Generation) -> Bool { document >= other.document && companions >= other.companions }
  }

  /// For a document that was loaded from the store.
  init(id: DocumentId, document: Document, loaded: StoredChunks?, storage: any StorageProvider, clock: any RepoClock) {
    (self.id, self.document, self.storage, self.clock) = (id, document, storage, clock)
    if let loaded {
      snapshotByteCount = loaded.snapshotByteCount
      incrementalByteCount = loaded.incrementalByteCount
      damaged = loaded.damaged
      storedHeads = document.heads()
      (discarded, discardedRows) = (loaded.discarded, loaded.discardedRows)
      if loaded.hasDiscarded {
        mustMerge = true
        changed()
      }
    }
  }

  var isStored: Bool { stored.document == current.document }

  var isCompacting: Bool { compaction != nil }

  /// Stores the whole document, of which the store has nothing yet.
  func storeWhole() {
    guard !document.heads().isEmpty else { return }
    let snapshot = document.save()
    pending.append(StoredItem(key: StoredChunks.key(.snapshot, id, snapshot), data: snapshot))
    changed()
  }

  /// A peer's chunk of a whole document, as it is stored.
  /// - Complexity: O(n) in the chunk
  nonisolated static func snapshot(_ chunk: ArraySlice<UInt8>, of id: DocumentId) -> StoredItem {
    let data = Data(chunk)
    return StoredItem(key: StoredChunks.key(.snapshot, id, data), data: data)
  }

  /// Stores the document as it came from a peer, compressed; it was empty before. `changed` follows.
  func received(_ snapshot: StoredItem) {
    document.noteStored()
    pending.append(snapshot)
  }

  /// Removes from the store the changes that the document has lost, and nothing that other processes may have put there.
  func discard(_ changes: Set<ChangeHash>) {
    if !changes.isSubset(of: discarded) { isDiscardedStated = false }
    discarded.formUnion(changes)
    mustMerge = true
    // A write that waits may contain them.
    let snapshot = document.save()
    pending = pending.prefix(writing) + [StoredItem(key: StoredChunks.key(.snapshot, id, snapshot), data: snapshot)]
    changed()
  }

  func changed() {
    current.document += 1
    perform(schedule.receive(.changed))
  }

  /// Writes the companions soon, even if the document does not change.
  func companionsChanged() {
    current.companions += 1
    perform(schedule.receive(.changed))
  }

  /// Returns when what is in the document now is stored; throws if an attempt fails meanwhile.
  ///
  /// - Parameter additions: what to commit with it, or right after it where the provider has no transactions. If this throws,
  ///   they are not stored later.
  func flush(with additions: [StorageChange] = []) async throws(StorageError) {
    let error: StorageError? = await withCheckedContinuation { continuation in
      self.additions += additions
      if !additions.isEmpty { companionsChanged() }
      // Checked in here, where no other call can come between the check and the entry in `waiters`.
      guard stored != current, !isClosed else { return continuation.resume(returning: nil) }
      waiters.append((current, continuation))
      perform(schedule.receive(.flushRequested))
    }
    if let error { throw error }
  }

  /// Ends all writing; returns when none is under way.
  func close() async {
    isClosed = true
    timer?.cancel()
    await work?.value
    await compaction?.value
    resume { _ in true }
  }

  private func perform(_ effects: [StorageSchedule.Effect]) {
    for effect in effects {
      switch effect {
      case .startTimer(let delay):
        timer = clock.schedule(after: delay) { [weak self] in
          guard let self, !self.isClosed else { return }
          self.perform(self.schedule.receive(.timerFired))
        }
      case .cancelTimer:
        timer?.cancel()
        timer = nil
      case .write:
        write()
      }
    }
  }

  private func write() {
    guard !isClosed else { return }
    let start = clock.now
    let new = document.encodeNewChanges()
    if !new.isEmpty { pending.append(StoredItem(key: StoredChunks.key(.incremental, id, new), data: new)) }
    let (items, companions, generation) = (pending, companions?() ?? [], current)
    let heads = document.heads()
    let record = items.isEmpty ? [] : [StoredHeads.item(id, heads)]
    let changes = (items + record).map { StorageChange.save($0) } + companions + additions + changesOfDiscarded()
    additions = []
    let merges = mustMerge
    writing = items.count
    work = Task { [id, storage] in
      do throws(StorageError) {
        if !changes.isEmpty { try await storage.commit(changes) }
        // A merge under way may write the removed changes once more: then remove them again afterwards.
        if merges, self.compaction == nil {
          self.mustMerge = false
          self.merged(try await DocumentStore.compact(id, in: storage))
        }
        self.storedHeads = heads
        self.wrote(items, generation: generation, time: self.clock.now - start, error: nil)
      } catch {
        self.isDiscardedStated = false
        self.wrote([], generation: generation, time: self.clock.now - start, error: error)
      }
    }
  }

  /// The rows of discarded changes to store. Changes that another person has brought again stay in the document.
  private func changesOfDiscarded() -> [StorageChange] {
    let gone = document.unknown(discarded)
    let outdated = gone.count == discarded.count ? [] : discardedRows
    guard !outdated.isEmpty || !isDiscardedStated else { return [] }
    (discarded, isDiscardedStated) = (gone, true)
    let rows = gone.isEmpty ? [] : [DiscardedChanges.item(id, gone)]
    let keys = Set(rows.map(\.key))
    discardedRows = discardedRows.subtracting(outdated).union(keys)
    return outdated.subtracting(keys).map { .remove($0) } + rows.map { .save($0) }
  }

  private func wrote(_ items: [StoredItem], generation: Generation, time: Duration, error: StorageError?) {
    pending.removeFirst(items.count)
    writing = 0
    for item in items {
      if item.key.dropLast().last == StoredChunks.Kind.snapshot.rawValue {
        snapshotByteCount += item.data.count
      } else {
        incrementalByteCount += item.data.count
      }
    }
    problem = error
    if error == nil { stored = generation } else { additions = [] }
    perform(schedule.receive(error == nil ? .saved : .failed))
    onWritten?(time)
    resume { error != nil || stored.covers($0) }
    if !waiters.isEmpty { perform(schedule.receive(.flushRequested)) }
    onChange?()
    if error == nil { compactIfDue() }
  }

  private func resume(where isDone: (Generation) -> Bool) {
    let done = waiters.filter { isDone($0.generation) }
    waiters.removeAll { isDone($0.generation) }
    for waiter in done { waiter.continuation.resume(returning: problem) }
  }

  // MARK: Compaction

  private func compactIfDue() {
    // A snapshot may be many times smaller than its text, all of which is read and written again.
    guard compaction == nil, !isClosed,
      incrementalByteCount >= max(DocumentStore.smallestCompaction, snapshotByteCount, document.textByteCount / 2)
    else { return }
    compaction = Task { [id, storage] in
      do throws(StorageError) {
        let result = try await DocumentStore.compact(id, in: storage)
        self.merged(result)
        if result == nil {
          // Retry when as much has been added again. An intact document in memory repairs the store meanwhile.
          self.snapshotByteCount = max(self.snapshotByteCount, self.incrementalByteCount * 2)
          if StoredChunks.isComplete(self.document) { self.storeWhole() }
        }
      } catch {
        self.problem = error
        self.onChange?()
      }
      self.compaction = nil
      if self.mustMerge { self.changed() }
    }
  }

  private func merged(_ result: Merged?) {
    guard let result else { return }
    snapshotByteCount = result.snapshotByteCount
    incrementalByteCount = max(0, incrementalByteCount - result.mergedByteCount)
  }

  private typealias Merged = (snapshotByteCount: Int, mergedByteCount: Int)

  /// Merges the chunks in the store, whichever process wrote them, and removes exactly those that were merged. The live
  /// document is not touched. Nil if a chunk is damaged or waits for another: then everything stays.
  @concurrent
  private static func compact(
    _ id: DocumentId, in storage: any StorageProvider
  ) async throws(StorageError) -> Merged? {
    let chunks = try await StoredChunks.load(id, from: storage)
    guard chunks.isComplete, let document = chunks.document else { return nil }
    let snapshot = document.save()
    let key = StoredChunks.key(.snapshot, id, snapshot)
    let merged = chunks.used.keys.filter { $0 != key }.map { StorageChange.remove($0) }
    try await storage.commit([.save(StoredItem(key: key, data: snapshot))] + merged)
    return (snapshot.count, chunks.incrementalByteCount)
  }
}
