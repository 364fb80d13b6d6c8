import Automerge
import Foundation

extension Repo {
  var loader: DocumentLoader { DocumentLoader(repo: self) }

  /// Looks for a document in memory, in the store, and at the peers to which the policy would announce it.
  public func find(_ id: DocumentId, within limit: Duration = .seconds(10)) async -> FindOutcome {
    await OneReply.wait(otherwise: .timedOut) { reply in
      if let handle = handle(of: id) { return reply.resume(returning: .found(handle)) }
      let isNew = entries[id] == nil
      let entry = entries.entry(for: id)
      entry.wait(reply, for: limit, clock: clock) { [weak self, weak entry] in
        guard let self, let entry, entry.handle != nil, !entry.isReady, !entry.isAwaited else { return }
        self.loader.discard(entry)
      }
      if isNew { loader.load(entry) }
    }
  }
}
