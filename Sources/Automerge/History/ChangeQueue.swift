/// Changes that were received but wait for some of their dependencies.
struct ChangeQueue {
  /// In the order of arrival.
  private(set) var waiting: [DecodedChange] = []
  private var hashes: [ChangeHash] = []
  private var index = HashIndex()

  /// Limits the changes whose dependencies never arrive, of which a peer may send any number. Source: PeerProtocol.md,
  /// "Expensive changes".
  private static let maximumWaiting = 4096
  private static let maximumWaitingBytes = 16 << 20

  var isEmpty: Bool { waiting.isEmpty }

  subscript(hash: ChangeHash) -> DecodedChange? { index.place(of: hash, in: hashes).map { waiting[$0] } }

  mutating func add(_ change: DecodedChange) {
    guard index.place(of: change.hash, in: hashes) == nil else { return }
    waiting.append(change)
    hashes.append(change.hash)
    index.insert(place: hashes.count - 1, in: hashes)
  }

  /// Drops the last changes if there are too many. Peers that have them are asked again.
  mutating func trim() {
    var byteCount = 0
    var kept = 0
    for change in waiting.prefix(Self.maximumWaiting) {
      byteCount += change.text.count + 128 * (1 + change.runs.count) + 32 * change.header.deps.count
      byteCount += 512 * change.opWeight
      if byteCount > Self.maximumWaitingBytes, kept > 0 { break }
      kept += 1
    }
    guard kept < waiting.count else { return }
    let all = waiting
    self = ChangeQueue()
    for change in all.prefix(kept) { add(change) }
  }

  /// Some changes, and their indices in the order in which they can be applied.
  struct Ready {
    let changes: [DecodedChange]
    let order: [Int]
  }

  /// Removes and returns the changes that can be applied, in order.
  mutating func takeReady(isKnown: (ChangeHash) -> Bool) -> Ready {
    guard !waiting.isEmpty else { return Ready(changes: [], order: []) }
    let order = ReadyOrder.order(of: hashes, index, deps: { waiting[$0].header.deps }, isKnown: isKnown)
    guard !order.isEmpty else { return Ready(changes: [], order: []) }
    let all = waiting
    self = ChangeQueue()
    if order.count < all.count {
      var isTaken = Array(repeating: false, count: all.count)
      for place in order { isTaken[place] = true }
      for place in all.indices where !isTaken[place] { add(all[place]) }
    }
    return Ready(changes: all, order: order)
  }
}

/// The order in which the changes of a batch are applied: in the order of the batch, and a change that becomes ready is
/// applied after those that were ready before it. Source: automerge-format, section 4, "Applying a batch".
enum ReadyOrder {
  /// The indices of the changes that can be applied. The others wait for changes that are neither known nor among
  /// these.
  static func order(
    of hashes: [ChangeHash], _ index: HashIndex, deps: (Int) -> [ChangeHash], isKnown: (ChangeHash) -> Bool
  ) -> [Int] {
    // For each change how many of its dependencies are missing, and its dependents as a linked list.
    var missing = Array(repeating: 0, count: hashes.count)
    var first = Array(repeating: -1, count: hashes.count), last = first
    var links: [(place: Int, next: Int)] = []
    links.reserveCapacity(hashes.count)
    for place in hashes.indices {
      let deps = deps(place)
      for hash in deps.count < 2 ? deps : Array(Set(deps)) {
        let dep = index.place(of: hash, in: hashes)
        if dep == nil, isKnown(hash) { continue }
        missing[place] += 1
        guard let dep else { continue }
        if first[dep] < 0 { first[dep] = links.count } else { links[last[dep]].next = links.count }
        last[dep] = links.count
        links.append((place, -1))
      }
    }
    var order: [Int] = []
    order.reserveCapacity(hashes.count)
    for place in hashes.indices where missing[place] == 0 { order.append(place) }
    var next = 0
    while next < order.count {
      var link = first[order[next]]
      while link >= 0 {
        let place = links[link].place
        missing[place] -= 1
        if missing[place] == 0 { order.append(place) }
        link = links[link].next
      }
      next += 1
    }
    return order
  }
}
