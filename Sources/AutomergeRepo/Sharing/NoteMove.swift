import Automerge

/// The replacement of a document by a new one that is not shared with the removed guests.
public struct NoteMove: Hashable, Sendable {
  public var document: DocumentId
  public var successor: DocumentId
  /// The heads of the old document that the new one starts from.
  public var heads: Set<ChangeHash>
  /// The host that moved the document.
  public var host: PeerId?
  /// The first bytes of the removed guests' actors.
  public var removedAuthors: Set<[UInt8]>

  public init(
    document: DocumentId, successor: DocumentId, heads: Set<ChangeHash>, host: PeerId?, removedAuthors: Set<[UInt8]>
  ) {
    (self.document, self.successor, self.heads) = (document, successor, heads)
    (self.host, self.removedAuthors) = (host, removedAuthors)
  }

  /// Whether this actor belongs to a removed guest.
  public func isRemoved(_ actor: ActorId) -> Bool {
    removedAuthors.contains { author in actor.data.prefix(author.count).elementsEqual(author) }
  }
}
