import Automerge
import Foundation

/// Exchanges which heads documents have in stores that are not connected to this peer: so a person sees that a change
/// has reached the laptop at home, though only the server was online.
///
/// We follow a store once the program, or a peer, has subscribed to it. We pass subscriptions on to all other peers,
/// and reports to the peers that have subscribed and have access to the document. Of two reports about a store the
/// later one counts.
@AutomergeRepo
final class RemoteHeadsExchange {
  /// The most stores that one peer may subscribe to. Source: PeerProtocol.md, "Remote heads".
  static let maximumSubscriptions = 256
  /// A report that is dated further in the future than this is dropped: calendars do not differ as much.
  private static let maximumSkew: TimeInterval = 24 * 3600

  let observers = Observers<RemoteHeads>()
  private weak var repo: Repo?
  private var own: Set<StorageId> = []
  private var theirs: [PeerId: Set<StorageId>] = [:]
  /// What we have subscribed to at each peer.
  private var told: [PeerId: Set<StorageId>] = [:]
  private var known: [DocumentId: [StorageId: RemoteHeads]] = [:]

  init(_ repo: Repo) { self.repo = repo }

  /// Whether any store is followed.
  private var isActive: Bool { !own.isEmpty || !theirs.isEmpty }

  private func isFollowed(_ store: StorageId) -> Bool {
    own.contains(store) || theirs.values.contains { $0.contains(store) }
  }

  func heads(of id: DocumentId, in store: StorageId) -> RemoteHeads? { known[id]?[store] }

  func subscribe(to stores: Set<StorageId>) {
    own.formUnion(stores)
    tellSubscriptions()
  }

  func unsubscribe(from stores: Set<StorageId>) {
    own.subtract(stores)
    tellSubscriptions()
  }

  func forget(_ id: DocumentId) { known[id] = nil }

  // MARK: Peers

  func connected() { if isActive { tellSubscriptions() } }

  func disconnected(_ peer: PeerId) {
    told[peer] = nil
    if theirs.removeValue(forKey: peer) != nil { tellSubscriptions() }
  }

  /// Subscribes at each peer, except processes of our own, to what we and the other peers follow.
  private func tellSubscriptions() {
    guard let repo else { return }
    for peer in repo.connections.connectedPeers.map(\.id) {
      let others = theirs.filter { $0.key != peer }.values.reduce(into: own) { $0.formUnion($1) }
      let wanted = Set(others.sorted { $0.description < $1.description }.prefix(Self.maximumSubscriptions))
      let before = told[peer] ?? []
      told[peer] = wanted
      var (add, remove) = (Array(wanted.subtracting(before)), Array(before.subtracting(wanted)))
      while !add.isEmpty || !remove.isEmpty {
        let count = RemoteHeadsMessage.maximumStores
        send(.subscription(add: Array(add.prefix(count)), remove: Array(remove.prefix(count))), to: peer)
        (add, remove) = (Array(add.dropFirst(count)), Array(remove.dropFirst(count)))
      }
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
      var stores = (theirs[peer] ?? []).subtracting(remove)
      for store in add where stores.count < Self.maximumSubscriptions { stores.insert(store) }
      theirs[peer] = stores.isEmpty ? nil : stores
      tellSubscriptions()
      // For this peer, everything that our peers have told us before is news.
      for handle in repo.handles { noteHeads(of: handle) }
      for (id, stores) in known {
        for (_, news) in stores where add.contains(news.storageId) { tell(news, id, to: peer) }
      }
    case .changed(let id, let stores):
      guard repo.sharing.access(id, for: peer) > .none, repo.entries[id]?.handle != nil else { return }
      for (store, news) in stores where isFollowed(store) {
        let date = Date(timeIntervalSince1970: Double(news.milliseconds) / 1000)
        guard date.timeIntervalSince(repo.clock.date) < Self.maximumSkew else { continue }
        note(RemoteHeads(documentId: id, storageId: store, heads: news.heads, date: date), from: peer)
      }
    }
  }

  /// Call when peers on a document may have sent new heads.
  func noteHeads(of handle: DocHandle) {
    guard isActive, let repo else { return }
    for link in handle.sync.links {
      guard let heads = link.heads, !heads.isEmpty, let metadata = repo.connections[link.peer]?.metadata,
        !metadata.isEphemeral, let store = metadata.storageId, isFollowed(store),
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
    if own.contains(news.storageId) { observers.send(news) }
    for (other, stores) in theirs where other != peer && stores.contains(news.storageId) {
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
