import Automerge

/// What is stored of a document, and which peers have it.
public struct DocumentStatus: Hashable, Sendable {
  public var heads: Set<ChangeHash>
  /// Whether every change is in the store; false without one.
  public var isStored: Bool
  /// Why the last attempt to store failed.
  public var storageProblem: StorageError?
  /// The peers that are on the document now.
  public var peers: Set<PeerId>
  /// The peers on the document whose last heads equal ours.
  public var peersInSync: Set<PeerId>
  /// The peers on the document that refuse our changes.
  public var refusedBy: Set<PeerId>
  /// Whether the document was deleted here.
  public var isDeleted: Bool

  public func isInSync(with peer: PeerId) -> Bool { peersInSync.contains(peer) }
}
