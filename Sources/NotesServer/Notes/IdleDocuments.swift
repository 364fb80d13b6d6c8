import Automerge
import AutomergeRepo

/// Releases documents from memory that are not open and to which nothing has happened for a while. They are loaded again on demand.
///
/// A look costs as much as the documents are many to which something has happened, or that could not be released, up to a limit.
@AutomergeRepo
final class IdleDocuments {
  /// The interval between looks; an idle document stays for one to two of these.
  private static let interval: Duration = .seconds(15)
  /// So many of those that could not be released are tried again at each look: one that is open may be closed without a word to us.
  private static let triedAgain = 256
  /// So many are released in one turn of the loop.
  private static let releasedPerTurn = 64

  private let repo: Repo
  private let clock: any RepoClock
  /// What was used between the last two looks.
  private var used: Set<DocumentId> = []
  /// What could not be released, longest waiting first; each once.
  private var kept: [DocumentId] = []
  private var isKept: Set<DocumentId> = []
  var isEnabled = true

  init(repo: Repo, clock: any RepoClock) { (self.repo, self.clock) = (repo, clock) }

  /// Looks from now on.
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
    // In the same order in every run.
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
