import Automerge
import Foundation

/// The heads that a document has in some peer's store, however many peers away, as last reported.
public struct RemoteHeads: Hashable, Sendable {
  public let documentId: DocumentId
  public let storageId: StorageId
  public let heads: Set<ChangeHash>
  /// When a peer that is connected to the store received these heads, by that peer's calendar.
  public let date: Date
}
