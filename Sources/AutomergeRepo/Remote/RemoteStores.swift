/// What the repo knows of its peers' stores. Several peers, such as one person's processes or a browser's tabs, may
/// share one.
@AutomergeRepo
final class RemoteStores {
  let syncStates: SyncStates
  let heads: RemoteHeadsExchange

  init(_ repo: Repo) { (syncStates, heads) = (SyncStates(repo), RemoteHeadsExchange(repo)) }

  /// Call when the document has been dropped from memory.
  func forget(_ document: DocumentId) {
    syncStates.forget(document)
    heads.forget(document)
  }
}
