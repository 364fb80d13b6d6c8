import Automerge

/// Which connected peer is told of which document, and what it may do with it, according to the share policy.
@AutomergeRepo
final class DocumentSharing {
  let policy: any ShareAuthorizing
  private let connections: PeerConnections
  private let entries: DocumentEntries

  nonisolated init(policy: any ShareAuthorizing, connections: PeerConnections, entries: DocumentEntries) {
    (self.policy, self.connections, self.entries) = (policy, connections, entries)
  }

  /// A peer's access to a document. Until the document is here, a peer that may not create it can only ask for it.
  func access(_ document: DocumentId, for peer: PeerId) -> Access {
    if connections.isSibling(peer) { return .write }
    guard let connected = connections[peer] else { return policy.access(document, for: peer) }
    let access = policy.access(document, for: connected)
    guard access == .write, !policy.mayCreate(document, peer), entries[document]?.isReady != true else { return access }
    return .read
  }

  func announces(_ document: DocumentId, to peer: PeerId) -> Bool {
    if connections.isSibling(peer) { return true }
    guard let peer = connections[peer] else { return policy.announce(document, to: peer) }
    return policy.announce(document, to: peer)
  }

  /// Whether any document may be shared with a peer. A policy that keeps no list may share any.
  func sharesAnything(with peer: PeerId) -> Bool {
    connections.isSibling(peer) || policy.documents(sharedWith: peer)?.isEmpty != true
  }

  /// Whether a peer may write as an actor.
  func fits(_ actor: ActorId, _ peer: PeerId) -> Bool {
    policy.fits(actor, connections.isSibling(peer) ? connections.local.peerId : peer)
  }

  /// The documents in memory that a peer may be told of, in an order that is the same in every run.
  func entries(toTell peer: PeerId) -> [DocumentEntry] {
    guard !connections.isSibling(peer), let shared = policy.documents(sharedWith: peer) else { return entries.sorted }
    return DocumentEntries.sorted(shared.compactMap { entries[$0] })
  }
}
