import Automerge
import Foundation

/// The heads that a document has in some peer's store, however many peers away, as far as that was heard.
public struct RemoteHeads: Hashable, Sendable {
  public let documentId: DocumentId
  public let storageId: StorageId
  public let heads: Set<ChangeHash>
  /// When a peer that speaks with the store heard it, by that peer's calendar.
  public let date: Date
}
