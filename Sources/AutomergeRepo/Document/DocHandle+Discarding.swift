import Automerge

/// Returns to the peers' state when they refuse changes that were made here.
extension DocHandle {
  /// Has the observers commit what they still hold back, so that the changes to be discarded are all in the document.
  public func prepareToDiscard() { deliver(.preparingToDiscard) }

  /// Removes changes, and everything that depends on them, from the document in memory and in the store, and compares the
  /// document with every peer anew. Observers are told before, while the document still has them, and after.
  ///
  /// - Parameter actor: the new actor to write as from now on
  /// - Returns: the removed changes
  /// - Complexity: O(n) in the history
  @discardableResult
  public func discard(_ changes: Set<ChangeHash>, goingOnAs actor: ActorId) throws -> Set<ChangeHash> {
    let former = document.actor
    deliver(.discarding(leaving: document.heads(without: changes)))
    let gone = try ignoringWatch { try document.discard(changes, goingOnAs: actor) }
    guard !gone.isEmpty else { return [] }
    discarded.formUnion(gone)
    contentReplaced(without: gone)
    signatures.discarded(former)
    deliver(.discarded)
    return gone
  }

  /// A peer's last heads; nil if the peer has sent none.
  public func heads(of peer: PeerId) -> Set<ChangeHash>? { sync.heads(of: peer) }

  /// The changes here that a peer lacked when it last sent its heads.
  /// - Complexity: O(n) in the history
  public func changes(missingAt peer: PeerId) -> Set<ChangeHash> {
    let heads = sync.heads(of: peer) ?? []
    return Set(document.changes(since: heads.subtracting(document.unknown(heads))).map(\.hash))
  }

  /// Whether a peer hears of changes from relays, so that it tells us its heads only now and then.
  public func isIdle(with peer: PeerId) -> Bool { idlePeers.contains(peer) }

  /// The changes that this person made, in any process, and that are neither among `heads` nor their ancestors.
  public func ownChanges(since heads: Set<ChangeHash>) -> Set<ChangeHash> {
    guard let repo else { return [] }
    return Set(document.changes(since: heads).filter { repo.sharing.fits($0.actorId, repo.peerId) }.map(\.hash))
  }
}
