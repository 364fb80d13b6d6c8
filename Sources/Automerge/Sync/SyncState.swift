import Foundation
import Synchronization

/// What is known of one peer's copy of one document. Use one for each pair of document and peer.
public final class SyncState: Sendable {
  /// Locked while the document's own lock is held, never the other way round.
  let progress: Mutex<SyncProgress>

  public init() { progress = Mutex(SyncProgress()) }

  /// Resumes from the result of `encode`. Throws `DecodeSyncStateError`.
  public init(bytes: Data) throws {
    progress = Mutex(try DecodeSyncStateError.decoding(bytes))
  }

  /// The part worth storing: what both certainly had. Resume with `SyncState(bytes: state.encode())`.
  public func encode() -> Data { Data(progress.withLock { $0.persisted }) }

  /// Forgets what was said, as after the connection was lost. What both certainly had is kept, as by
  /// `SyncState(bytes: encode())`; for an unknown peer make a new state.
  public func reset() {
    progress.withLock { $0 = (try? SyncProgress(persisted: $0.persisted[...])) ?? SyncProgress() }
  }

  /// Makes the next message ask the peer to send again whatever it has sent before and we do not have.
  public func askAgain() { progress.withLock { $0.askAgain() } }

  /// The peer's heads in its last message; nil before the first.
  public var theirHeads: Set<ChangeHash>? { progress.withLock { $0.theirHeads.map(Set.init) } }

  /// How many changes the peer has, if its last message describes all of them.
  package var theirChangeCount: Int? {
    progress.withLock { progress in
      guard let have = progress.theirHave?.first, have.lastSync.isEmpty else { return nil }
      return have.bloom.entryCount
    }
  }

  /// Whether the peer has said that it refuses our changes.
  public var isPeerReadOnly: Bool { progress.withLock { $0.isPeerReadOnly } }

  /// Takes over from an earlier state on the same connection what the peer has said of itself: it says that once.
  package func succeed(_ former: SyncState) {
    let isPeerReadOnly = former.isPeerReadOnly
    progress.withLock { $0.isPeerReadOnly = isPeerReadOnly }
  }

  /// Whether the peer's changes are refused, and the peer told so.
  public var isReadOnly: Bool {
    get { progress.withLock { $0.isReadOnly } }
    set { progress.withLock { $0.setReadOnly(newValue) } }
  }
}
