/// The marks that apply at one place of a text in one state. Source: automerge-format, section 6.2.
struct MarksInForce {
  /// The open marks of each name, the greatest id last.
  private var open: [MapKey: [(id: OpId, value: RawValue)]] = [:]
  private var names: [OpId: MapKey] = [:]
  private let clock: Clock
  private let actors: ActorTable

  /// The value of each name; never null.
  private(set) var values: [MapKey: RawValue] = [:]

  init(at clock: Clock, actors: ActorTable) { (self.clock, self.actors) = (clock, actors) }

  /// Applies the beginning or end of a mark. Returns whether `values` may have changed.
  mutating func pass(_ op: StoredOp) -> Bool {
    guard clock.covers(op.id), !op.successors.contains(where: clock.covers) else { return false }
    if let name = op.markName.map(MapKey.init) {
      var marks = open[name] ?? []
      var low = 0, high = marks.count
      while low < high {
        let middle = (low + high) / 2
        if actors.precedes(marks[middle].id, op.id) { low = middle + 1 } else { high = middle }
      }
      open[name] = nil
      marks.insert((op.id, op.value), at: low)
      names[op.id] = name
      return settle(name, marks)
    }
    let begin = OpId(counter: op.id.counter &- 1, actor: op.id.actor)
    guard let name = names.removeValue(forKey: begin), var marks = open.removeValue(forKey: name) else { return false }
    if let place = marks.lastIndex(where: { $0.id == begin }) { marks.remove(at: place) }
    return settle(name, marks)
  }

  private mutating func settle(_ name: MapKey, _ marks: [(id: OpId, value: RawValue)]) -> Bool {
    let value = marks.last.flatMap { $0.value == .null ? nil : $0.value }
    if !marks.isEmpty { open[name] = marks }
    guard values[name] != value else { return false }
    values[name] = value
    return true
  }
}
