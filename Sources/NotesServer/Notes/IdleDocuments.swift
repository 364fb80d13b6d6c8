import Automerge
import AutomergeRepo

/// Releases from memory the documents that are not open and to which nothing has happened for a while. They are loaded
/// again on demand.
///
/// The cost of a check depends only on the number of documents to which something has happened, and, up to a limit, of
/// those that could not be released.
@AutomergeRepo
final class IdleDocuments {
  /// The interval between checks; an idle document stays for one to two of these.
  private static let interval: Duration = .seconds(15)
  /// How many of those that could not be released are tried again at each check, since one that is open may be closed
  /// without notice.
  private static let triedAgain = 256
  /// How many are released in one turn of the loop.
  private static let releasedPerTurn = 64

  private let repo: Repo
  private let clock: any RepoClock
  /// The documents that were used between the last two checks.
  private var used: Set<DocumentId> = []
  /// The documents that could not be released, longest waiting first; each once.
  private var kept: [DocumentId] = []
  private var isKept: Set<DocumentId> = []
  var isEnabled = true

  init(repo: Repo, clock: any RepoClock) { (self.repo, self.clock) = (repo, clock) }

  /// Checks from now on.
  func begin(inUse: @escaping (DocumentId) -> Bool) {
    clock.schedule(after: Self.interval) { [weak self] in
      guard let self else { return }
      if self.isEnabled { self.look(inUse) }
      self.begin(inUse: inUse)
    }
  }

  private func look(_ inUse: @escaping (DocumentId) -> Bool) {
    let before = used
    used = repo.takeUsedDocuments()
    // Sorted, so that every run does this in the same order.
    let quiet = before.subtracting(used).sorted { $0.description < $1.description }
    let again = kept.prefix(Self.triedAgain)
    isKept.subtract(again)
    kept.removeFirst(again.count)
    release((again.filter { !used.contains($0) } + quiet)[...], inUse)
  }

  private func release(_ ids: ArraySlice<DocumentId>, _ inUse: @escaping (DocumentId) -> Bool) {
    for id in ids.prefix(Self.releasedPerTurn) where repo.handle(of: id) != nil {
      if inUse(id) || !repo.release(id), isKept.insert(id).inserted { kept.append(id) }
    }
    let rest = ids.dropFirst(Self.releasedPerTurn)
    guard !rest.isEmpty else { return }
    clock.schedule(after: .milliseconds(1)) { [weak self] in self?.release(rest, inUse) }
  }
}
