import Automerge

/// What a repo does for its documents at intervals. None of it touches a document to which nothing has happened.
@AutomergeRepo
final class Upkeep {
  /// The most documents that are checked in one turn of the loop.
  static let documentsPerTurn = 512

  private weak var repo: Repo?
  let catalogues: CatalogueExchange
  private var recent = RecentDocuments()
  /// The document that is being checked. What the check itself causes does not count as use.
  private var checking: DocumentId?
  /// While the repo is about to leave the network.
  var farewell: Farewell?

  init(_ repo: Repo) { (self.repo, catalogues) = (repo, CatalogueExchange(repo)) }

  /// Call when something has happened to a document: it was loaded, it has changed, or a peer joined, left or sent
  /// something.
  func used(_ id: DocumentId) {
    if id != checking { recent.note(id) }
    farewell?.documentUsed(id)
  }

  /// Call when the document was dropped from memory.
  func left(_ id: DocumentId) { recent.left(id) }

  /// Returns the documents that were used since the last call.
  func takeUsed() -> Set<DocumentId> { recent.take(.release) }

  /// The same for the catalogues.
  func takeChanged() -> Set<DocumentId> { recent.take(.catalogue) }

  // MARK: Stalls

  /// How many documents the next check looks at.
  var dueCount: Int { recent.count(.check) }

  /// Checks the documents that were used since the last call, and those whose heads differed from a peer's then. Many
  /// documents take several turns of the loop.
  func check() {
    // Sorted, so that every run checks in the same order.
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
