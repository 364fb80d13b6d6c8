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
    var missing: [Int] = []
    var dependents: [ChangeHash: [Int]] = [:]
    for (place, change) in waiting.enumerated() {
      let unknown = Set(change.header.deps.filter { !isKnown($0) })
      missing.append(unknown.count)
      for hash in unknown { dependents[hash, default: []].append(place) }
    }
    var order = waiting.indices.filter { missing[$0] == 0 }
    var next = 0
    while next < order.count {
      for place in dependents[waiting[order[next]].hash] ?? [] {
        missing[place] -= 1
        if missing[place] == 0 { order.append(place) }
      }
      next += 1
    }
    guard !order.isEmpty else { return [] }
    let ready = order.map { waiting[$0] }
    let taken = Set(order)
    waiting = waiting.indices.filter { !taken.contains($0) }.map { waiting[$0] }
    places = Dictionary(uniqueKeysWithValues: waiting.enumerated().map { ($1.hash, $0) })
    return ready
  }
}
