/// A share policy of two closures.
///
///     let policy = SharePolicy(
///       announce: { document, peer in peer.proof == .sameUser },
///       access: { document, peer in peer.metadata.isEphemeral ? .read : .write })
///
/// The closures run for every message, so they must be fast. A policy that needs more than these two is a type of its
/// own that conforms to `ShareAuthorizing`.
public final class SharePolicy: ShareAuthorizing {
  /// Announces every document to every peer, and lets every peer write. For machines that trust each other.
  public nonisolated static let agreeable = SharePolicy(announce: { _, _ in true }, access: { _, _ in .write })

  /// Announces nothing, but a peer that knows a document's id may read and write it: the policy of a public server.
  public nonisolated static let onRequest = SharePolicy(announce: { _, _ in false }, access: { _, _ in .write })

  private let announces: @AutomergeRepo (DocumentId, ConnectedPeer) -> Bool
  private let access: @AutomergeRepo (DocumentId, ConnectedPeer) -> Access

  /// - Parameters:
  ///   - announce: whether a peer is told of a document unasked; the repo asks it for the document, too
  ///   - access: what a peer that knows of a document may do with it
  public nonisolated init(
    announce: @escaping @AutomergeRepo (DocumentId, ConnectedPeer) -> Bool,
    access: @escaping @AutomergeRepo (DocumentId, ConnectedPeer) -> Access
  ) {
    (announces, self.access) = (announce, access)
  }

  public func announce(_ document: DocumentId, to peer: ConnectedPeer) -> Bool { announces(document, peer) }
  public func access(_ document: DocumentId, for peer: ConnectedPeer) -> Access { access(document, peer) }

  /// Of a peer that is not connected only the id is known, and nothing is proved.
  public func announce(_ document: DocumentId, to peer: PeerId) -> Bool { announces(document, ConnectedPeer(id: peer)) }
  public func access(_ document: DocumentId, for peer: PeerId) -> Access { access(document, ConnectedPeer(id: peer)) }
}
