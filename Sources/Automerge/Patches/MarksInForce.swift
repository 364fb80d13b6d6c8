/// The marks that apply at one place of a text in one state. Source: automerge-format, section 6.2.
struct MarksInForce {
  /// The open marks of each name, ascending.
  private var open: [MapKey: [OpId]] = [:]
  private var begun: [OpId: (name: MapKey, value: RawValue)] = [:]
  private let clock: Clock
  private let actors: ActorTable

  /// The value of each name; never null.
  private(set) var values: [MapKey: RawValue] = [:]

  init(at clock: Clock, actors: ActorTable) { (self.clock, self.actors) = (clock, actors) }

  /// Applies the beginning or end of a mark. Returns the name, and its value before, if that changed.
  /// - Complexity: O(log n) in the open marks of the name, though this moves their ids
  @discardableResult
  mutating func pass(_ op: StoredOp) -> (name: MapKey, before: RawValue?)? {
    guard clock.covers(op.id), !op.successors.contains(where: clock.covers) else { return nil }
    let name: MapKey
    if let begins = op.markName {
      name = MapKey(begins)
      begun[op.id] = (name, op.value)
      var ids = open.removeValue(forKey: name) ?? []
      ids.insert(op.id, at: place(of: op.id, in: ids))
      open[name] = ids
    } else {
      let begin = OpId(counter: op.id.counter &- 1, actor: op.id.actor)
      guard let mark = begun.removeValue(forKey: begin) else { return nil }
      name = mark.name
      var ids = open.removeValue(forKey: name) ?? []
      ids.remove(at: place(of: begin, in: ids))
      if !ids.isEmpty { open[name] = ids }
    }
    let before = values[name]
    return settle(name) ? (name, before) : nil
  }

  /// Where an id is among ascending ones, or would be.
  private func place(of id: OpId, in ids: [OpId]) -> Int {
    var low = 0, high = ids.count
    while low < high {
      let middle = (low + high) / 2
      if actors.precedes(ids[middle], id) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func settle(_ name: MapKey) -> Bool {
    let greatest = open[name]?.last.flatMap { begun[$0]?.value }
    let value = greatest == .null ? nil : greatest
    guard values[name] != value else { return false }
    values[name] = value
    return true
  }
}
