import Automerge
import Foundation

extension Repo {
  var loader: DocumentLoader { DocumentLoader(repo: self) }

  /// Looks for a document in memory, in the store, and at the peers to which the policy would announce it. Returns after
  /// `limit` at the latest, even if the store has not answered; what it answers later is used by the next search. If the
  /// task is cancelled, returns `timedOut` at once.
  public func find(_ id: DocumentId, within limit: Duration = .seconds(10)) async -> FindOutcome {
    guard !connections.isLeaving else { return handle(of: id).map { .found($0) } ?? .stopped }
    return await search(id, within: limit, awaitsStore: false)
  }

  /// The same for a program that makes a document anew that it does not find, and must not mistake a slow store for an
  /// empty one: the limit holds for the peers alone.
  package func search(_ id: DocumentId, within limit: Duration = .seconds(10)) async -> FindOutcome {
    await search(id, within: limit, awaitsStore: true)
  }

  private func search(_ id: DocumentId, within limit: Duration, awaitsStore: Bool) async -> FindOutcome {
    let cancellation = SearchCancellation()
    return await withTaskCancellationHandler {
      await OneReply.wait(otherwise: .timedOut) { reply in
        if let handle = handle(of: id) { return reply.resume(returning: .found(handle)) }
        let isNew = entries[id] == nil
        let entry = entries.entry(for: id)
        let waiter = DocumentEntry.Waiter(reply, awaitsStore: awaitsStore) { [weak self, weak entry] in
          guard let self, let entry, entry.handle != nil, !entry.isReady, !entry.isAwaited else { return }
          self.loader.discard(entry)
        }
        entry.wait(waiter, for: limit, clock: clock)
        if isNew { loader.load(entry) }
        cancellation.set { [weak entry, weak waiter] in
          if let entry, let waiter { entry.giveUp(waiter) }
        }
      }
    } onCancel: {
      Task { @AutomergeRepo in cancellation.cancel() }
    }
  }
}

/// Ends a search when its task is cancelled, which may be before the search has begun.
@AutomergeRepo
private final class SearchCancellation {
  private var isCancelled = false
  private var action: (@AutomergeRepo () -> Void)?

  nonisolated init() {}

  func set(_ action: @escaping @AutomergeRepo () -> Void) {
    if isCancelled { action() } else { self.action = action }
  }

  func cancel() {
    isCancelled = true
    action?()
    action = nil
  }
}
