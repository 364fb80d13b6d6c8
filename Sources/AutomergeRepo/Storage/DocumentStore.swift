import Automerge
import Foundation

/// Keeps one document stored: gathers its changes, writes them as chunks, and merges the chunks when there are many.
@AutomergeRepo
final class DocumentStore {
  enum Event {
    /// A write has ended that took this long; `stateChanged` follows.
    case written(Duration)
    /// What is stored, or the problem, has changed.
    case stateChanged
  }

  private let id: DocumentId
  private let document: Document
  private let storage: any StorageProvider
  private let clock: any RepoClock
  let observers = Observers<Event>()
  private var known: KnownChunks
  /// What to store with the document, asked for at each write. It is committed together with the chunks, or after them
  /// where the provider has no transactions, so it never refers to changes that are not stored.
  var companions: (@AutomergeRepo () -> [StorageChange])?

  private var schedule = StorageSchedule()
  private var timer: (any ScheduledAction)?
  private var queue = WriteQueue()
  private let progress: WriteProgress
  private var discarded: DiscardedRows
  private let compaction: Compaction
  private var work: Task<Void, Never>?

  /// For a document that was loaded from the store.
  init(id: DocumentId, document: Document, loaded: StoredChunks?, storage: any StorageProvider, clock: any RepoClock) {
    (self.id, self.document, self.storage, self.clock) = (id, document, storage, clock)
    known = KnownChunks(loaded: loaded)
    queue.mark = loaded.flatMap { $0.document === document ? $0.mark : nil } ?? HistoryMark()
    progress = WriteProgress(storedHeads: loaded == nil ? [] : document.heads())
    discarded = DiscardedRows(loaded: loaded)
    compaction = Compaction(id: id, storage: storage, loaded: loaded)
    if discarded.mustMerge { changed() }
  }

  /// Chunks that could not be used when the document was loaded.
  var damaged: [StorageKey] { known.damaged }

  var isStored: Bool { progress.isDocumentStored }

  var isCompacting: Bool { compaction.isRunning }

  /// Since when the store has lacked something of the document; nil if it has everything.
  var unstoredSince: Duration? { progress.unstoredSince }

  /// Why the last attempt to store failed; nil after a success.
  var problem: StorageError? { progress.problem }

  /// The heads that are certainly stored.
  var storedHeads: Set<ChangeHash> { progress.storedHeads }

  /// Whether the document has every chunk that other processes have stored.
  /// - Complexity: O(n) in the chunks, whose bytes are not read
  func hasTakenAll() async throws(StorageError) -> Bool { try await known.areAll(of: id, in: storage) }

  /// Call when the document has merged these chunks.
  func took(_ chunks: StoredChunks) { known.read(chunks) }

  /// Stores the whole document when the store has nothing of it yet, even a document without changes.
  func storeWhole() {
    queue.append(snapshot())
    changed()
  }

  private func snapshot() -> StoredItem {
    let (snapshot, mark) = document.saveMarked()
    queue.mark = mark
    return StoredItem(key: StoredChunks.key(.snapshot, id, snapshot), data: snapshot)
  }

  /// The row that stores a peer's chunk of a whole document.
  /// - Complexity: O(n) in the chunk
  nonisolated static func snapshot(_ chunk: ArraySlice<UInt8>, of id: DocumentId) -> StoredItem {
    let data = Data(chunk)
    return StoredItem(key: StoredChunks.key(.snapshot, id, data), data: data)
  }

  /// Stores the document compressed, as it came from a peer; it was empty before. Call `changed` afterwards.
  ///
  /// - Parameter changeCount: how many changes the snapshot has
  func received(_ snapshot: StoredItem, changeCount: Int) {
    let now = document.historyMark
    // Otherwise another thread has changed the document meanwhile: everything is stored once more.
    if now.changeCount == changeCount { queue.mark = now }
    queue.append(snapshot)
  }

  /// Removes from the store the changes that were removed from the document, and nothing that other processes may have
  /// stored.
  func discard(_ changes: Set<ChangeHash>) {
    discarded.discard(changes)
    // A chunk that waits to be written may contain them.
    queue.replace(with: snapshot())
    changed()
  }

  func changed() {
    progress.documentChanged(at: clock.now)
    perform(schedule.receive(.changed))
  }

  /// Writes the companions soon, even if the document does not change.
  func companionsChanged() {
    progress.companionsChanged()
    perform(schedule.receive(.changed))
  }

  /// Returns when everything that is in the document now is stored; throws if an attempt fails before.
  ///
  /// - Parameter additions: what to commit with it, or right after it where the provider has no transactions. If this throws,
  ///   they are not stored later.
  func flush(with additions: [StorageChange] = []) async throws(StorageError) {
    let error: StorageError? = await withCheckedContinuation { continuation in
      queue.append(additions)
      if !additions.isEmpty { companionsChanged() }
      // Checked here, where no other call can come between the check and the wait.
      guard !schedule.isClosed else { return continuation.resume(returning: .deleted) }
      guard !progress.isAllStored else { return continuation.resume(returning: nil) }
      progress.wait(continuation)
      perform(schedule.receive(.flushRequested))
    }
    if let error { throw error }
  }

  /// Stores the texts beside the chunks if they have changed, and reading the history takes long.
  func keepTexts() async throws(StorageError) {
    guard known.areTextsOld, isStored, compaction.byteCount >= StoredTexts.minimumByteCount else { return }
    let heads = document.heads()
    guard let names = try await StoredTexts.names(ofChunks: id, in: storage), known.has(names),
      let texts = StoredTexts(await Self.texts(of: document, at: heads), ofChunks: names), isStored,
      document.heads() == heads
    else { return }
    try await texts.save(as: id, in: storage)
    known.areTextsOld = false
  }

  /// Off the actor: they may be long.
  @concurrent
  private static func texts(of document: Document, at heads: Set<ChangeHash>) async -> [String: String] {
    StoredTexts.all(of: document, at: heads)
  }

  /// Stops all writing, for a deletion; returns when no write is running.
  func close() async {
    perform(schedule.receive(.closed))
    await work?.value
    await compaction.finish()
    progress.problem = .deleted
    progress.resume(all: true)
  }

  private func perform(_ effects: [StorageSchedule.Effect]) {
    for effect in effects {
      switch effect {
      case .startTimer(let delay):
        // Not weak: what is due is stored even if the repo and its handles are gone by then.
        timer = clock.schedule(after: delay) {
          self.timer = nil
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
    let start = clock.now
    let (new, heads, mark) = document.changes(after: queue.mark)
    queue.mark = mark
    if !new.isEmpty { queue.append(StoredItem(key: StoredChunks.key(.incremental, id, new), data: new)) }
    let (companions, generation) = (companions?() ?? [], progress.current)
    let (chunks, additions) = queue.begin()
    let record = chunks.isEmpty || heads.isEmpty ? [] : [StoredHeads.item(id, heads)]
    let changes =
      (chunks + record).map { StorageChange.save($0) } + companions + additions
      + discarded.takeChanges(for: id, document)
    let merges = discarded.mustMerge
    work = Task { [storage] in
      do throws(StorageError) {
        if !changes.isEmpty { try await storage.commit(changes) }
      } catch {
        self.discarded.writeFailed()
        return self.wrote([], generation: generation, time: self.clock.now - start, error: error)
      }
      // A merge that is running may write the removed changes once more. Then they have to be removed again afterwards.
      let mergeError = merges && !self.compaction.isRunning ? await self.mergeDiscarded() : nil
      self.progress.stored(heads)
      self.wrote(
        chunks, generation: generation, time: self.clock.now - start, error: nil, mergeError: mergeError)
    }
  }

  /// Removes discarded changes from the chunks. What was committed with their removal is stored, whether this succeeds
  /// or not.
  private func mergeDiscarded() async -> StorageError? {
    discarded.mustMerge = false
    do throws(StorageError) {
      _ = try await compaction.run()
      return nil
    } catch {
      discarded.mustMerge = true
      return error
    }
  }

  /// - Parameter mergeError: why a merge after the write has failed, which is tried again
  private func wrote(
    _ chunks: [StoredItem], generation: WriteProgress.Generation, time: Duration, error: StorageError?,
    mergeError: StorageError? = nil
  ) {
    queue.end(isWritten: error == nil)
    compaction.wrote(chunks)
    known.wrote(chunks)
    progress.wrote(generation, begunAt: clock.now - time, error: error)
    perform(schedule.receive(error == nil && mergeError == nil ? .saved : .failed))
    observers.send(.written(time))
    progress.resume(all: error != nil)
    if let mergeError { progress.problem = mergeError }
    if progress.hasWaiters { perform(schedule.receive(.flushRequested)) }
    observers.send(.stateChanged)
    if error == nil, mergeError == nil { compactIfDue() }
  }

  private func compactIfDue() {
    guard !schedule.isClosed, compaction.isDue(textByteCount: document.textByteCount) else { return }
    compaction.start { [weak self] result in self?.compacted(result) }
  }

  private func compacted(_ result: Result<Compaction.Merged?, StorageError>) {
    switch result {
    case .success(let merged?):
      known.merged(into: merged.key, isInMemory: document.unknown(merged.heads).isEmpty)
    case .success(nil):
      // A document that is intact in memory repairs the store.
      if !document.hasWaitingChanges { storeWhole() }
    // All is stored nevertheless. A store that takes nothing says so at the next write.
    case .failure: break
    }
    if discarded.mustMerge { changed() }
  }
}
