/// A map or table: for each key all operations on it.
final class MapObject {
  private(set) var slots: [MapKey: Slot] = [:]

  init() {}

  init(copying other: MapObject) { slots = other.slots }

  subscript(key: MapKey) -> Slot {
    get { slots[key] ?? Slot() }
    set { slots[key] = newValue }
  }

  func apply(_ op: StoredOp, key: MapKey, predecessors: [OpId], actors: ActorTable) {
    slots[key, default: Slot()].addSuccessor(op, to: predecessors, actors: actors)
    if op.action != .delete { slots[key, default: Slot()].add(op, actors: actors) }
  }

  /// The keys that have a value, in byte order.
  func keys(at clock: Clock = .now) -> [MapKey] {
    slots.filter { $0.value.winner(at: clock) != nil }.map(\.key).sorted()
  }

  /// All keys with their operations, in byte order.
  var sortedSlots: [(key: MapKey, slot: Slot)] {
    slots.map { ($0.key, $0.value) }.sorted { $0.key < $1.key }
  }
}
