import Automerge
import AutomergeRepo

/// Decides which documents are released from memory: those that are not open and have not changed from one look to the next.
/// They are loaded again on demand.
@AutomergeRepo
struct IdleDocuments {
  /// The interval between looks; an idle document stays for one to two of these.
  static let interval: Duration = .seconds(15)

  /// The documents that were idle at the last look, with their heads then.
  private var seen: [DocumentId: Set<ChangeHash>] = [:]

  nonisolated init() {}

  mutating func sweep(_ repo: Repo, inUse: (DocumentId) -> Bool) {
    let before = seen
    seen = [:]
    for handle in repo.handles where !inUse(handle.id) { seen[handle.id] = handle.document.heads() }
    let idle = seen.filter { before[$0.key] == $0.value }.map(\.key)
    for id in idle where repo.release(id) { seen[id] = nil }
  }
}
