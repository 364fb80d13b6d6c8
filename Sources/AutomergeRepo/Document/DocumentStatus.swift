import Automerge

/// How a document stands with the store and with its peers.
public struct DocumentStatus: Hashable, Sendable {
  public var heads: Set<ChangeHash>
  /// Whether every change is in the store; false without one.
  public var isStored: Bool
  /// Why the last attempt to store failed.
  public var storageProblem: StorageError?
  /// The peers that are on the document now.
  public var peers: Set<PeerId>
  /// Those of them that have told exactly these heads.
  public var peersInSync: Set<PeerId>
  /// Those of them that refuse our changes.
  public var refusedBy: Set<PeerId>
  /// The document was deleted here.
  public var isDeleted: Bool

  public func isInSync(with peer: PeerId) -> Bool { peersInSync.contains(peer) }
}
