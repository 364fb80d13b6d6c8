import Automerge

/// Decides which peer gets what: which documents it is told of unasked (announce), and which it may have if it asks (access).
///
/// Asked again for every message, so a program may change its mind; then call `Repo.policyChanged`. `SharePolicy` makes one of two
/// closures.
@AutomergeRepo
public protocol ShareAuthorizing: AnyObject, Sendable {
  /// Whether `peer` is told of the document without asking, and may be asked for it.
  func announce(_ document: DocumentId, to peer: PeerId) -> Bool
  func access(_ document: DocumentId, for peer: PeerId) -> Access
  /// The same of a connected peer, of which more is known: what it tells about itself, and what it has proved. Implement these two
  /// where that decides; by default the id does.
  func announce(_ document: DocumentId, to peer: ConnectedPeer) -> Bool
  func access(_ document: DocumentId, for peer: ConnectedPeer) -> Access
  /// All documents that a peer may see; nil if the policy keeps no list, so that every document has to be checked.
  func documents(sharedWith peer: PeerId) -> [DocumentId]?
  /// Whether a document that is not here yet may come into being by what a peer with write access sends of it.
  func mayCreate(_ document: DocumentId, _ peer: PeerId) -> Bool
  /// Whether `peer` may write as an actor, as far as the actor shows.
  func fits(_ actor: ActorId, _ peer: PeerId) -> Bool
}

extension ShareAuthorizing {
  public func announce(_ document: DocumentId, to peer: ConnectedPeer) -> Bool { announce(document, to: peer.id) }
  public func access(_ document: DocumentId, for peer: ConnectedPeer) -> Access { access(document, for: peer.id) }
  public func documents(sharedWith peer: PeerId) -> [DocumentId]? { nil }
  public func mayCreate(_ document: DocumentId, _ peer: PeerId) -> Bool { true }
  public func fits(_ actor: ActorId, _ peer: PeerId) -> Bool { true }
}

/// The policy of a person without peers: nothing is shared.
public final class ShareNothing: ShareAuthorizing {
  public nonisolated init() {}
  public func announce(_ document: DocumentId, to peer: PeerId) -> Bool { false }
  public func access(_ document: DocumentId, for peer: PeerId) -> Access { .none }
}

/// The policy of a circle of trust, and of tests: every peer may write everything.
public final class ShareEverything: ShareAuthorizing {
  public nonisolated init() {}
  public func announce(_ document: DocumentId, to peer: PeerId) -> Bool { true }
  public func access(_ document: DocumentId, for peer: PeerId) -> Access { .write }
}
