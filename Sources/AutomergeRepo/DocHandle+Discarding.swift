import Automerge

/// Going back to what the peers have, when they do not take what was done here.
extension DocHandle {
  /// Has the observers write down what they have not written yet, so that it is known what would be discarded.
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

  /// The heads that a peer last said to have; nil if it has said nothing.
  public func heads(of peer: PeerId) -> Set<ChangeHash>? { sync.heads(of: peer) }

  /// The changes here that a peer did not have when it last said what it has.
  /// - Complexity: O(n) in the history
  public func changes(missingAt peer: PeerId) -> Set<ChangeHash> {
    let heads = sync.heads(of: peer) ?? []
    return Set(document.changes(since: heads.subtracting(document.unknown(heads))).map(\.hash))
  }

  /// Whether a peer hears of changes from others, and says only now and then what it has.
  public func isIdle(with peer: PeerId) -> Bool { idlePeers.contains(peer) }

  /// Of the changes that are not among `heads` nor come before them, those that this person has made, in any process.
  public func ownChanges(since heads: Set<ChangeHash>) -> Set<ChangeHash> {
    guard let repo else { return [] }
    return Set(document.changes(since: heads).filter { repo.fits($0.actorId, repo.peerId) }.map(\.hash))
  }
}
