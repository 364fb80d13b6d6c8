import Automerge
import AutomergeRepo

/// Releases documents from memory that are not open and have not changed from one look to the next. They are loaded again on
/// demand.
@AutomergeRepo
final class IdleDocuments {
  /// The interval between looks; an idle document stays for one to two of these.
  private static let interval: Duration = .seconds(15)

  private let repo: Repo
  private let clock: any RepoClock
  /// The documents that were idle at the last look, with their heads then.
  private var seen: [DocumentId: Set<ChangeHash>] = [:]
  var isEnabled = true

  init(repo: Repo, clock: any RepoClock) { (self.repo, self.clock) = (repo, clock) }

  /// Looks from now on.
  func begin(inUse: @escaping (DocumentId) -> Bool) {
    clock.schedule(after: Self.interval) { [weak self] in
      guard let self else { return }
      if self.isEnabled { self.sweep(inUse: inUse) }
      self.begin(inUse: inUse)
    }
  }

  private func sweep(inUse: (DocumentId) -> Bool) {
    let before = seen
    seen = [:]
    for handle in repo.handles where !inUse(handle.id) { seen[handle.id] = handle.document.heads() }
    let idle = seen.filter { before[$0.key] == $0.value }.map(\.key)
    for id in idle where repo.release(id) { seen[id] = nil }
  }
}
