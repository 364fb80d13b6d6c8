/// Which stores the program and the peers follow.
struct StoreSubscriptions {
  /// The most stores that one peer may subscribe to. Source: PeerProtocol.md, "Remote heads".
  static let maximumCount = 256

  private struct Subscriber {
    var stores: Set<StorageId> = []
    /// Whether the peer's subscriptions count, because something is shared with it.
    var counts = false
    /// Stores that the peer has not been told about yet.
    var new: Set<StorageId> = []
  }

  /// The stores that the program follows.
  private(set) var own: Set<StorageId> = []
  private var subscribers: [PeerId: Subscriber] = [:]
  /// How many peers whose subscriptions count follow each store.
  private var counts: [StorageId: Int] = [:]
  /// The stores that have gained or lost a follower since the last `takeChanged`.
  private var changed: Set<StorageId> = []

  /// Whether no store is followed.
  var isEmpty: Bool { own.isEmpty && counts.isEmpty }

  /// The stores that are followed, in no particular order.
  var followed: Set<StorageId> { own.union(counts.keys) }

  /// The peers that have subscribed, whether that counts or not.
  var peers: [PeerId] { Array(subscribers.keys) }

  func isFollowed(_ store: StorageId) -> Bool { own.contains(store) || counts[store] != nil }

  /// Whether a store is followed by the program or by another peer than this one.
  func isFollowed(_ store: StorageId, besidesBy peer: PeerId) -> Bool {
    own.contains(store) || counts[store] ?? 0 > (isFollowed(store, by: peer) ? 1 : 0)
  }

  func isFollowed(_ store: StorageId, by peer: PeerId) -> Bool {
    subscribers[peer].map { $0.counts && $0.stores.contains(store) } ?? false
  }

  // MARK: Changing

  mutating func follow(_ stores: Set<StorageId>) {
    changed.formUnion(stores.subtracting(own))
    own.formUnion(stores)
  }

  mutating func unfollow(_ stores: Set<StorageId>) {
    changed.formUnion(stores.intersection(own))
    own.subtract(stores)
  }

  /// A peer changes its subscription. What exceeds the limit is dropped.
  mutating func change(of peer: PeerId, adding added: [StorageId], removing removed: [StorageId]) {
    // Taken out meanwhile, so that the sets are not copied.
    var subscriber = subscribers.removeValue(forKey: peer) ?? Subscriber()
    for store in removed where subscriber.stores.remove(store) != nil {
      subscriber.new.remove(store)
      if subscriber.counts { add(-1, to: store) }
    }
    for store in added where subscriber.stores.count < Self.maximumCount || subscriber.stores.contains(store) {
      subscriber.new.insert(store)
      if subscriber.stores.insert(store).inserted, subscriber.counts { add(1, to: store) }
    }
    if !subscriber.stores.isEmpty { subscribers[peer] = subscriber }
  }

  /// Sets whether a peer's subscriptions count.
  mutating func setCounts(_ counts: Bool, of peer: PeerId) {
    guard let subscriber = subscribers[peer], subscriber.counts != counts else { return }
    subscribers[peer]?.counts = counts
    if counts { subscribers[peer]?.new = subscriber.stores }
    for store in subscriber.stores { add(counts ? 1 : -1, to: store) }
  }

  mutating func forget(_ peer: PeerId) {
    setCounts(false, of: peer)
    subscribers[peer] = nil
  }

  private mutating func add(_ number: Int, to store: StorageId) {
    let count = (counts[store] ?? 0) + number
    counts[store] = count == 0 ? nil : count
    changed.insert(store)
  }

  /// The stores that have gained or lost a follower since the last call.
  mutating func takeChanged() -> Set<StorageId> {
    defer { changed = [] }
    return changed
  }

  /// The stores that each peer whose subscriptions count has subscribed to since the last call.
  mutating func takeNew() -> [PeerId: Set<StorageId>] {
    var all: [PeerId: Set<StorageId>] = [:]
    for (peer, subscriber) in subscribers where subscriber.counts && !subscriber.new.isEmpty {
      all[peer] = subscriber.new
      subscribers[peer]?.new = []
    }
    return all
  }
}
