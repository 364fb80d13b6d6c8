import Automerge
import AutomergeRepo
import Foundation
import Logging

/// Loads what other processes store into the documents that are open here, within seconds.
///
/// Connected processes send each other every keystroke. This is the safety net beneath: it works while they cannot
/// reach each other, and finds what a process stored but did not send before it ended.
@AutomergeRepo
public final class StoreNews {
  /// Source: Storage.md, "PostgreSQL".
  public static let interval: Duration = .seconds(1)

  private let store: PostgresStore
  private weak var repo: Repo?
  private let log: Logger
  private var cursor = NewsCursor()
  private var timer: (any ScheduledAction)?
  private var isReading = false
  private var isStopped = false

  /// Starts at once. Create it before you open documents.
  public init(of store: PostgresStore, for repo: Repo, log: Logger = Logger(label: "store")) {
    (self.store, self.repo, self.log) = (store, repo, log)
    look()
  }

  public func stop() {
    isStopped = true
    timer?.cancel()
  }

  /// Polls now instead of at the end of the interval.
  public func look() {
    guard !isReading, !isStopped, let clock = repo?.clock else { return }
    timer?.cancel()
    isReading = true
    Task { [weak self] in
      await self?.read()
      guard let self else { return }
      self.isReading = false
      guard !self.isStopped else { return }
      self.timer = clock.schedule(after: Self.interval) { [weak self] in self?.look() }
    }
  }

  private func read() async {
    do throws(StorageError) {
      var position = cursor.start.map { PostgresStore.NewsPosition(transaction: $0) }
      var settled: UInt64?
      repeat {
        let page = try await store.news(from: position)
        // Later pages are from a later moment, and show everything that was settled at the first one's.
        settled = settled ?? page.settled
        for key in cursor.receive(page.chunks) { try await takeIn(key) }
        position = page.next
      } while position != nil && !isStopped
      cursor.finish(settled: settled ?? 0)
    } catch {
      // Read it at the next poll. Writing operations report a database that is unreachable.
      cursor.breakOff()
      log.debug("News of other processes: \(error)")
    }
  }

  private func takeIn(_ key: StorageKey) async throws(StorageError) {
    guard let id = DocumentId(key[0]), let handle = repo?.handle(of: id) else { return }
    do {
      // A chunk that is gone was merged into a snapshot, which has a row of its own.
      if let chunk = try await store.load(key) {
        try await take(chunk, isWhole: key[1] == ChunkName.Kind.snapshot.rawValue, into: handle)
      }
    } catch let error as StorageError where error.isPassing {
      throw error
    } catch {
      log.error("A chunk that another process has stored cannot be read, at \(key): \(error)")
    }
    cursor.took(key)
  }

  private func take(_ chunk: Data, isWhole: Bool, into handle: DocHandle) async throws {
    guard isWhole else { return try handle.take(chunk) }
    let news = try await Self.changes(in: chunk, unknownTo: handle.document)
    if !news.isEmpty { try handle.take(news) }
  }

  /// Most of a snapshot is usually known, and it may be large.
  @concurrent
  private static func changes(in chunk: Data, unknownTo document: Document) async throws -> Data {
    let stored = try Document(chunk)
    guard !document.unknown(stored.heads()).isEmpty else { return Data() }
    return try stored.encodeChangesSince(heads: document.heads())
  }
}
