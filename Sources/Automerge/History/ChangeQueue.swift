/// Changes that were received but wait for some of their dependencies.
struct ChangeQueue {
  /// In the order of arrival.
  private(set) var waiting: [DecodedChange] = []
  private var places: [ChangeHash: Int] = [:]

  var isEmpty: Bool { waiting.isEmpty }

  subscript(hash: ChangeHash) -> DecodedChange? { places[hash].map { waiting[$0] } }

  mutating func add(_ change: DecodedChange) {
    guard places[change.hash] == nil else { return }
    places[change.hash] = waiting.count
    waiting.append(change)
  }

  /// Takes out what can be applied, in order: first come, first served, and a change that became ready behind those
  /// that were before it. Source: automerge-format, section 4, "Applying a batch".
  mutating func takeReady(isKnown: (ChangeHash) -> Bool) -> [DecodedChange] {
    guard !waiting.isEmpty else { return [] }
    let hashes = waiting.map(\.hash)
    var index = HashIndex()
    for place in hashes.indices { index.insert(place: place, in: hashes) }
    // For each change how many of its dependencies are not there yet, and its dependents as a linked list.
    var missing = Array(repeating: 0, count: hashes.count)
    var first = Array(repeating: -1, count: hashes.count), last = first
    var links: [(place: Int, next: Int)] = []
    links.reserveCapacity(hashes.count)
    for place in hashes.indices {
      let deps = waiting[place].header.deps
      for hash in deps.count < 2 ? deps : Array(Set(deps)) where !isKnown(hash) {
        missing[place] += 1
        guard let dep = index.place(of: hash, in: hashes) else { continue }
        if first[dep] < 0 { first[dep] = links.count } else { links[last[dep]].next = links.count }
        last[dep] = links.count
        links.append((place, -1))
      }
    }
    var order = hashes.indices.filter { missing[$0] == 0 }
    order.reserveCapacity(hashes.count)
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
    guard !order.isEmpty else { return [] }
    let ready = order.map { waiting[$0] }
    if order.count == waiting.count {
      (waiting, places) = ([], [:])
      return ready
    }
    var isTaken = Array(repeating: false, count: hashes.count)
    for place in order { isTaken[place] = true }
    waiting = hashes.indices.filter { !isTaken[$0] }.map { waiting[$0] }
    places = Dictionary(uniqueKeysWithValues: waiting.enumerated().map { ($1.hash, $0) })
    return ready
  }
}
