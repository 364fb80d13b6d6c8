import Automerge

/// Decides which documents the repo tells a peer of unasked (announce), and which the peer gets if it asks (access).
///
/// The repo asks again for every message. When the answers change, call `Repo.policyChanged`. `SharePolicy` is a policy
/// of two closures.
@AutomergeRepo
public protocol ShareAuthorizing: AnyObject, Sendable {
  /// Whether `peer` is told of the document unasked. The repo asks it for the document, too.
  func announce(_ document: DocumentId, to peer: PeerId) -> Bool
  func access(_ document: DocumentId, for peer: PeerId) -> Access
  /// The same for a connected peer, with what it says about itself and what it has proved. Implement these two if that
  /// decides; by default the id does.
  func announce(_ document: DocumentId, to peer: ConnectedPeer) -> Bool
  func access(_ document: DocumentId, for peer: ConnectedPeer) -> Access
  /// All documents that a peer may see; nil if the policy keeps no list, so that the repo checks every document.
  func documents(sharedWith peer: PeerId) -> [DocumentId]?
  /// Whether the repo may create a document that is not here from what a peer with write access sends of it.
  func mayCreate(_ document: DocumentId, _ peer: PeerId) -> Bool
  /// Whether `peer` may write as `actor`, as far as the actor's bytes show.
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

/// The policy of peers that trust each other fully, and of tests: every peer may write everything.
public final class ShareEverything: ShareAuthorizing {
  public nonisolated init() {}
  public func announce(_ document: DocumentId, to peer: PeerId) -> Bool { true }
  public func access(_ document: DocumentId, for peer: PeerId) -> Access { .write }
}
