/// What the repo knows of its peers' stores. Several peers, the processes of one person or the tabs of one browser, may share one.
@AutomergeRepo
final class RemoteStores {
  let syncStates: SyncStates
  let heads: RemoteHeadsExchange

  init(_ repo: Repo) { (syncStates, heads) = (SyncStates(repo), RemoteHeadsExchange(repo)) }

  /// The document is no longer in memory.
  func forget(_ document: DocumentId) {
    syncStates.forget(document)
    heads.forget(document)
  }
}
