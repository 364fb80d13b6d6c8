import Foundation
import Synchronization

/// What is known of one peer's copy of one document. One for each pair of document and peer.
public final class SyncState: Sendable {
  /// Taken while the document's own lock is held, never the other way round.
  let progress: Mutex<SyncProgress>

  public init() { progress = Mutex(SyncProgress()) }

  /// Goes on from what `encode` gave. Throws `DecodeSyncStateError`.
  public init(bytes: Data) throws {
    progress = Mutex(try DecodeSyncStateError.decoding(bytes))
  }

  /// The part worth keeping: what both were sure to have. Reconnect with `SyncState(bytes: state.encode())`.
  public func encode() -> Data { Data(progress.withLock { $0.persisted }) }

  /// Forgets everything, as for a peer never met.
  public func reset() { progress.withLock { $0 = SyncProgress() } }

  /// The next message asks the peer to send again whatever we do not have of what it has sent before.
  public func askAgain() { progress.withLock { $0.askAgain() } }

  /// The peer's heads as it last told; nil if it told nothing yet.
  public var theirHeads: Set<ChangeHash>? { progress.withLock { $0.theirHeads.map(Set.init) } }

  /// Whether the peer has said that it refuses our changes.
  public var isPeerReadOnly: Bool { progress.withLock { $0.isPeerReadOnly } }

  /// Whether the peer's changes are refused and it is told so.
  public var isReadOnly: Bool {
    get { progress.withLock { $0.isReadOnly } }
    set { progress.withLock { $0.setReadOnly(newValue) } }
  }
}
