import Automerge
import Foundation

/// Stores what is certainly shared with each peer's store, so that after a restart only what is new has to be compared.
///
/// A row at `[documentId, "sync-state", storageId]` holds an encoded `SyncState`. Only peers that send a storage id and
/// keep their documents have such a row. Losing it only makes the first message longer.
@AutomergeRepo
final class SyncStates {
  /// How long changes are gathered before they are written.
  static let gatheringTime: Duration = .milliseconds(100)
  /// How long to wait for a document that is not stored yet: a row must not claim more changes than the store has.
  static let retryInterval: Duration = .seconds(1)
  /// The most stores that are remembered for one document.
  private static let maximumStores = 256

  private weak var repo: Repo?
  private var states: [DocumentId: [StorageId: Data]] = [:]
  private var changed: [DocumentId: Set<PeerId>] = [:]
  private var timer: (any ScheduledAction)?

  init(_ repo: Repo) { self.repo = repo }

  /// The second component of the rows' keys.
  nonisolated static let name = "sync-state"

  static func prefix(_ id: DocumentId) -> StorageKey { [id.description, name] }

  /// Call when the document was loaded, with these rows.
  func loaded(_ rows: [StoredItem], of id: DocumentId) {
    guard !rows.isEmpty else { return }
    let found = rows.prefix(Self.maximumStores).compactMap { row in row.key.last.map { (StorageId($0), row.data) } }
    states[id] = Dictionary(found, uniquingKeysWith: { first, _ in first })
  }

  func forget(_ id: DocumentId) {
    states[id] = nil
    changed[id] = nil
  }

  /// Call before a peer joins a document.
  func recall(_ peer: PeerId, for handle: DocHandle) {
    guard let states = states[handle.id], let store = repo?.connections.store(of: peer), let state = states[store]
    else { return }
    handle.sync.recall(peer, shared: state)
  }

  /// Call when more may be shared with peers on a document.
  func noteChange(of handle: DocHandle) {
    guard let repo, repo.storage != nil, repo.connections.storeCount > 0 else { return }
    let peers = handle.peers.filter { repo.connections.store(of: $0) != nil }
    guard !peers.isEmpty else { return }
    changed[handle.id, default: []].formUnion(peers)
    write(after: Self.gatheringTime)
  }

  private func write(after delay: Duration) {
    guard timer == nil else { return }
    timer = repo?.clock.schedule(after: delay) { [weak self] in
      self?.timer = nil
      self?.write()
    }
  }

  private func write() {
    guard let repo, let storage = repo.storage else { return }
    var rows: [StorageChange] = []
    var waits = false
    for (id, peers) in changed {
      guard let handle = repo.entries[id]?.handle else {
        changed[id] = nil
        continue
      }
      guard handle.isStored else {
        waits = true
        continue
      }
      changed[id] = nil
      for peer in peers {
        guard let store = repo.connections.store(of: peer), let index = handle.sync.index(of: peer) else { continue }
        let state = handle.sync.links[index].shared.encode()
        guard states[id]?[store] != state, states[id]?[store] != nil || states[id]?.count ?? 0 < Self.maximumStores
        else { continue }
        states[id, default: [:]][store] = state
        rows.append(.save(StoredItem(key: Self.prefix(id) + [store.description], data: state)))
      }
    }
    if waits { write(after: Self.retryInterval) }
    guard !rows.isEmpty else { return }
    Task { [rows, logger = repo.logger] in
      do throws(StorageError) {
        try await storage.commit(rows)
      } catch {
        logger.debug("sync states were not stored: \(error)")
      }
    }
  }
}
