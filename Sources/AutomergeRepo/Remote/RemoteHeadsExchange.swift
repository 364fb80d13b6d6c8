import Automerge
import Foundation

/// Exchanges which heads documents have in stores that are not connected to this peer: so a person sees that a change
/// has reached the laptop at home, though only the server was online.
///
/// We follow a store once the program has subscribed to it, or a peer with which something is shared. We subscribe at the
/// other peers ourselves, and pass reports on to the peers that have subscribed and have access to the document. Of two
/// reports about a store the later one counts.
///
/// Peers that have proved a key belong to people, who are linked in rings. There a subscription that is passed on would
/// never end: each peer would keep it for the next. So these peers hear only what the program itself follows.
@AutomergeRepo
final class RemoteHeadsExchange {
  /// A report that is dated further in the future than this is dropped: calendars do not differ as much.
  private static let maximumSkew: TimeInterval = 24 * 3600
  /// Changed subscriptions are looked at, and passed on, at most this often. Source: PeerProtocol.md, "Remote heads".
  static let pause: Duration = .seconds(1)

  let observers = Observers<RemoteHeads>()
  private weak var repo: Repo?
  private(set) var subscriptions = StoreSubscriptions()
  /// What we have subscribed to at each peer.
  private var told: [PeerId: Set<StorageId>] = [:]
  private var known: [DocumentId: [StorageId: RemoteHeads]] = [:]
  /// When changed subscriptions were last looked at.
  private var lastUpdate: Duration?
  private var timer: (any ScheduledAction)?

  init(_ repo: Repo) { self.repo = repo }

  func heads(of id: DocumentId, in store: StorageId) -> RemoteHeads? { known[id]?[store] }

  func subscribe(to stores: Set<StorageId>) {
    subscriptions.follow(stores)
    updateSoon()
  }

  func unsubscribe(from stores: Set<StorageId>) {
    subscriptions.unfollow(stores)
    updateSoon()
  }

  func forget(_ id: DocumentId) { known[id] = nil }

  // MARK: Peers

  func connected() { if !subscriptions.isEmpty { updateSoon() } }

  func disconnected(_ peer: PeerId) {
    told[peer] = nil
    guard subscriptions.peers.contains(peer) else { return }
    subscriptions.forget(peer)
    updateSoon()
  }

  /// Call when other documents may be shared with the peers.
  func policyChanged() { if !subscriptions.peers.isEmpty { updateSoon() } }

  /// Looks at changed subscriptions: now, or when the pause after the last time is over.
  private func updateSoon() {
    guard timer == nil, let clock = repo?.clock else { return }
    let wait = lastUpdate.map { $0 + Self.pause - clock.now } ?? .zero
    guard wait > .zero else { return update() }
    timer = clock.schedule(after: wait) { [weak self] in
      self?.timer = nil
      self?.update()
    }
  }

  private func update() {
    guard let repo else { return }
    lastUpdate = repo.clock.now
    for peer in subscriptions.peers { subscriptions.setCounts(repo.sharing.sharesAnything(with: peer), of: peer) }
    let (changed, new) = (subscriptions.takeChanged(), subscriptions.takeNew())
    if !subscriptions.isEmpty || !told.isEmpty { tellSubscriptions(changed) }
    guard !new.isEmpty else { return }
    // For these peers, everything that our peers have told us before is news.
    for handle in repo.handles { noteHeads(of: handle) }
    for (peer, stores) in new {
      for (id, reports) in known {
        for (store, news) in reports where stores.contains(store) { tell(news, id, to: peer) }
      }
    }
  }

  /// Subscribes at each peer, except processes of our own, to what we and the other peers follow.
  ///
  /// - Parameter changed: the stores that have gained or lost a follower since the last call
  private func tellSubscriptions(_ changed: Set<StorageId>) {
    for peer in repo?.connections.connectedPeers ?? [] {
      let isPerson = if case .key? = peer.proof { true } else { false }
      func isWanted(_ store: StorageId) -> Bool {
        isPerson ? subscriptions.own.contains(store) : subscriptions.isFollowed(store, besidesBy: peer.id)
      }
      var stores = told[peer.id] ?? []
      let removed = changed.filter { stores.contains($0) && !isWanted($0) }
      // A store that found no room before may find some now.
      let isFirst = told[peer.id] == nil
      let hasRoomAgain = !removed.isEmpty && stores.count == StoreSubscriptions.maximumCount
      stores.subtract(removed)
      let candidates = isPerson ? subscriptions.own : isFirst || hasRoomAgain ? subscriptions.followed : changed
      let added = candidates.filter { !stores.contains($0) && isWanted($0) }
        .sorted { $0.description < $1.description }.prefix(StoreSubscriptions.maximumCount - stores.count)
      stores.formUnion(added)
      told[peer.id] = stores
      tell(adding: Array(added), removing: removed.sorted { $0.description < $1.description }, to: peer.id)
    }
  }

  private func tell(adding added: [StorageId], removing removed: [StorageId], to peer: PeerId) {
    let count = RemoteHeadsMessage.maximumStores
    for start in stride(from: 0, to: max(added.count, removed.count), by: count) {
      let (add, remove) = (added.dropFirst(start).prefix(count), removed.dropFirst(start).prefix(count))
      send(.subscription(add: Array(add), remove: Array(remove)), to: peer)
    }
  }

  private func send(_ message: RemoteHeadsMessage, to peer: PeerId) {
    repo?.connections.send(type: message.type, fields: message.fields, to: peer)
  }

  // MARK: Hearing

  func received(_ message: RemoteHeadsMessage, from peer: PeerId) {
    guard let repo else { return }
    switch message {
    case .subscription(let add, let remove):
      subscriptions.change(of: peer, adding: add, removing: remove)
      updateSoon()
    case .changed(let id, let stores):
      guard repo.sharing.access(id, for: peer) > .none, repo.entries[id]?.handle != nil else { return }
      for (store, news) in stores where subscriptions.isFollowed(store) {
        let date = Date(timeIntervalSince1970: Double(news.milliseconds) / 1000)
        guard date.timeIntervalSince(repo.clock.date) < Self.maximumSkew else { continue }
        note(RemoteHeads(documentId: id, storageId: store, heads: news.heads, date: date), from: peer)
      }
    }
  }

  /// Call when peers on a document may have sent new heads.
  func noteHeads(of handle: DocHandle) {
    guard !subscriptions.isEmpty, let repo else { return }
    for link in handle.sync.links {
      guard let heads = link.heads, !heads.isEmpty, let metadata = repo.connections[link.peer]?.metadata,
        !metadata.isEphemeral, let store = metadata.storageId, subscriptions.isFollowed(store),
        known[handle.id]?[store]?.heads != heads
      else { continue }
      note(
        RemoteHeads(documentId: handle.id, storageId: store, heads: heads, date: repo.clock.date), from: link.peer)
    }
  }

  private func note(_ news: RemoteHeads, from peer: PeerId) {
    if let before = known[news.documentId]?[news.storageId], before.date >= news.date || before.heads == news.heads {
      return
    }
    known[news.documentId, default: [:]][news.storageId] = news
    if subscriptions.own.contains(news.storageId) { observers.send(news) }
    for other in subscriptions.peers where other != peer && subscriptions.isFollowed(news.storageId, by: other) {
      tell(news, news.documentId, to: other)
    }
  }

  private func tell(_ news: RemoteHeads, _ id: DocumentId, to peer: PeerId) {
    guard let repo, repo.sharing.access(id, for: peer) > .none, repo.entries[id]?.handle?.peers.contains(peer) == true
    else {
      return
    }
    let milliseconds = Int((news.date.timeIntervalSince1970 * 1000).rounded())
    send(.changed(id, [news.storageId: (news.heads, milliseconds)]), to: peer)
  }
}
