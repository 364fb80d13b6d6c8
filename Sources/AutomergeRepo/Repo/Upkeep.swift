import Automerge

/// What a repo does for its documents at intervals. None of it looks at documents to which nothing has happened.
@AutomergeRepo
final class Upkeep {
  /// So many documents are checked in one turn of the loop.
  static let documentsPerTurn = 512

  private weak var repo: Repo?
  let catalogues: CatalogueExchange
  private var recent = RecentDocuments()
  /// The document that is being checked: what comes of that is no news.
  private var checking: DocumentId?

  init(_ repo: Repo) { (self.repo, catalogues) = (repo, CatalogueExchange(repo)) }

  /// Something has happened to a document: it came into memory, it or a peer's part in it has changed.
  func used(_ id: DocumentId) {
    if id != checking { recent.note(id) }
  }

  /// The document is no longer in memory.
  func left(_ id: DocumentId) { recent.left(id) }

  /// Returns what was used since the last call.
  func takeUsed() -> Set<DocumentId> { recent.take(.release) }

  /// The same for the catalogues.
  func takeChanged() -> Set<DocumentId> { recent.take(.catalogue) }

  // MARK: Stalls

  /// So many documents the next check looks at.
  var dueCount: Int { recent.count(.check) }

  /// Checks what was used since the last call, and what was not well then; many documents in several turns of the loop.
  func check() {
    // In the same order in every run.
    check(recent.take(.check).sorted { $0.description < $1.description }[...])
    catalogues.compareAll()
  }

  private func check(_ ids: ArraySlice<DocumentId>) {
    for id in ids.prefix(Self.documentsPerTurn) {
      guard let handle = repo?.entries[id]?.handle else { continue }
      checking = id
      handle.receive(.checked)
      handle.signatures.checked()
      checking = nil
      if handle.sync.hasDifference || !handle.signatures.isSettled { recent.note(id, for: .check) }
    }
    let rest = ids.dropFirst(Self.documentsPerTurn)
    guard !rest.isEmpty else { return }
    repo?.clock.schedule(after: DocHandle.turnDelay) { [weak self] in self?.check(rest) }
  }
}
