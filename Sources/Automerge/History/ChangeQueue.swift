/// Changes that were received but wait for some of their dependencies.
struct ChangeQueue {
  private var waiting = WaitingChanges()
  /// Those that were added last and have not been looked at, in the order of arrival.
  private var arrived: [DecodedChange] = []
  private var hashes: [ChangeHash] = []
  private var index = HashIndex()

  /// Limits the changes whose dependencies never arrive, of which a peer may send any number. Source: PeerProtocol.md,
  /// "Expensive changes".
  private static let maximumWaiting = 4096
  private static let maximumWaitingBytes = 16 << 20

  var isEmpty: Bool { waiting.isEmpty && arrived.isEmpty }
  var count: Int { waiting.count + arrived.count }

  /// In the order of arrival.
  var all: [DecodedChange] { waiting.all + arrived }

  subscript(hash: ChangeHash) -> DecodedChange? {
    waiting[hash] ?? index.place(of: hash, in: hashes).map { arrived[$0] }
  }

  mutating func add(_ change: DecodedChange) {
    guard index.place(of: change.hash, in: hashes) == nil, waiting[change.hash] == nil else { return }
    arrived.append(change)
    hashes.append(change.hash)
    index.insert(place: hashes.count - 1, in: hashes)
  }

  /// Drops the last changes if there are too many. Peers that have them are asked again.
  mutating func trim() {
    while waiting.count > Self.maximumWaiting || (waiting.byteCount > Self.maximumWaitingBytes && waiting.count > 1) {
      waiting.removeLast()
    }
  }

  /// Some changes, and their indices in the order in which they can be applied.
  struct Ready {
    let changes: [DecodedChange]
    let order: [Int]
  }

  /// Removes and returns the changes that can be applied, in order.
  /// - Complexity: O(n) in what was added and what becomes ready
  mutating func takeReady(_ graph: ChangeGraph) -> Ready {
    guard !isEmpty else { return Ready(changes: [], order: []) }
    let (arrived, hashes, index) = (self.arrived, self.hashes, self.index)
    (self.arrived, self.hashes, self.index) = ([], [], HashIndex())
    guard waiting.isEmpty else {
      let ready = waiting.takeReady(with: arrived, graph: graph)
      return Ready(changes: ready, order: Array(ready.indices))
    }
    // A large batch is sorted more quickly by itself.
    let order = ReadyOrder.order(
      of: hashes, index, deps: { arrived[$0].header.deps }, isKnown: { graph.row(of: $0) != nil })
    if order.count < arrived.count {
      var isTaken = Array(repeating: false, count: arrived.count)
      for place in order { isTaken[place] = true }
      waiting.add(arrived.indices.lazy.filter { !isTaken[$0] }.map { arrived[$0] }, to: graph)
    }
    return Ready(changes: arrived, order: order)
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
