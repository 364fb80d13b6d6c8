import Automerge
import Synchronization

/// Documents that were released from memory while the program still holds them. If the program changes such a document
/// afterwards, by a bound value or on another thread, it is loaded again and the change merged into it.
@AutomergeRepo
final class ReleasedDocuments {
  private struct Changed {
    let id: DocumentId
    let document: Document
  }

  /// Those that were changed and not merged yet. Holds them, because the program may drop one right after its change.
  private nonisolated let changed = Mutex<[ObjectIdentifier: Changed]>([:])
  /// The merge that was begun last. One runs at a time, so a later one ends after all before it.
  private var last: Task<StorageError?, Never>?

  /// Whether the texts of released documents are kept in the store.
  var keepsTexts = true

  nonisolated init() {}

  /// Notices later changes, as long as the program holds the document.
  func watch(_ document: Document, id: DocumentId, _ store: DocumentStore?, for repo: Repo) {
    if keepsTexts, let store { Task { try? await store.keepTexts() } }
    _ = document.addObserver { [weak self, weak document, weak repo] in
      guard let self, let document, let repo else { return }
      let isFirst = self.changed.withLock { changed in
        changed.updateValue(Changed(id: id, document: document), forKey: ObjectIdentifier(document)) == nil
      }
      if isFirst { Task { await self.takeBack(into: repo) } }
    }
  }

  /// Merges what was changed, and returns when this, and the merges that earlier calls began, are done. A document that
  /// cannot be merged now is kept for the next call.
  ///
  /// - Returns: why a document could not be merged
  @discardableResult
  func takeBack(into repo: Repo) async -> StorageError? {
    let earlier = last
    let task = Task { () -> StorageError? in
      let failure = await earlier?.value
      return await self.mergeAll(into: repo) ?? failure
    }
    last = task
    return await task.value
  }

  private func mergeAll(into repo: Repo) async -> StorageError? {
    let all = changed.withLock { changed in
      defer { changed = [:] }
      return changed
    }
    var failure: StorageError?
    for (key, item) in all {
      item.document.commitWith(message: nil, timestamp: repo.clock.date)
      switch await repo.search(item.id) {
      case .found(let handle): _ = try? handle.merge(item.document)
      case .deleted: break
      case .unavailable, .timedOut: _ = try? await repo.create(doc: item.document.fork(), id: item.id)
      case .failed(let error):
        failure = failure ?? error
        keep(item, key)
      // The flush that ends the repo's work takes it.
      case .stopped: keep(item, key)
      }
    }
    return failure
  }

  /// Keeps a document for the next call, unless it has changed once more.
  private func keep(_ item: Changed, _ key: ObjectIdentifier) {
    changed.withLock { changed in if changed[key] == nil { changed[key] = item } }
  }
}
