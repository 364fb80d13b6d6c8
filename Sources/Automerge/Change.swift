import Foundation

/// One change of a document, with its author and time.
public struct Change: Hashable, Sendable {
  public let actorId: ActorId
  public let message: String?
  /// The changes that this change was made on top of, in its own order.
  public let deps: [ChangeHash]
  /// When the change was made, to the second.
  public let timestamp: Date
  /// The change as a chunk, uncompressed.
  public let bytes: Data
  public let hash: ChangeHash
}
