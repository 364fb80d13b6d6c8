import Automerge

/// A peer's access to a document.
public enum Access: String, Hashable, Sendable, Comparable {
  case none
  /// The peer is sent everything; its changes are refused.
  case read
  case write

  private var rank: Int {
    switch self {
    case .none: 0
    case .read: 1
    case .write: 2
    }
  }

  public static func < (left: Access, right: Access) -> Bool { left.rank < right.rank }
}

/// Which peer gets what. Asked again for every message, so a program may change its mind; then call `Repo.policyChanged`.
@AutomergeRepo
public protocol SharePolicy: AnyObject, Sendable {
  /// Whether `peer` is told of the document without asking, and may be asked for it.
  func announce(_ document: DocumentId, to peer: PeerId) -> Bool
  func access(_ document: DocumentId, for peer: PeerId) -> Access
  /// All documents that a peer may see; nil if the policy keeps no list, so that every document has to be checked.
  func documents(sharedWith peer: PeerId) -> [DocumentId]?
  /// Whether a document that is not here yet may come into being by what a peer with write access sends of it.
  func mayCreate(_ document: DocumentId, _ peer: PeerId) -> Bool
  /// Whether `peer` may write as an actor, as far as the actor shows.
  func fits(_ actor: ActorId, _ peer: PeerId) -> Bool
}

extension SharePolicy {
  public func documents(sharedWith peer: PeerId) -> [DocumentId]? { nil }
  public func mayCreate(_ document: DocumentId, _ peer: PeerId) -> Bool { true }
  public func fits(_ actor: ActorId, _ peer: PeerId) -> Bool { true }
}

/// The policy of a person without peers: nothing is shared.
public final class ShareNothing: SharePolicy {
  public nonisolated init() {}
  public func announce(_ document: DocumentId, to peer: PeerId) -> Bool { false }
  public func access(_ document: DocumentId, for peer: PeerId) -> Access { .none }
}

/// The policy of a circle of trust, and of tests: every peer may write everything.
public final class ShareEverything: SharePolicy {
  public nonisolated init() {}
  public func announce(_ document: DocumentId, to peer: PeerId) -> Bool { true }
  public func access(_ document: DocumentId, for peer: PeerId) -> Access { .write }
}
