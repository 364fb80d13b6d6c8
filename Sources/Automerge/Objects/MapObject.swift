/// A map or table: all operations on each key.
final class MapObject {
  private(set) var slots: [MapKey: Slot] = [:]
  /// How many keys have a value now.
  private(set) var presentCount = 0

  init() {}

  init(copying other: MapObject) { (slots, presentCount) = (other.slots, other.presentCount) }

  subscript(key: MapKey) -> Slot {
    get { slots[key] ?? Slot() }
    set {
      presentCount += (newValue.isPresent ? 1 : 0) - (slots[key]?.isPresent ?? false ? 1 : 0)
      slots[key] = newValue
    }
  }

  func apply(_ op: StoredOp, key: MapKey, predecessors: [OpId], actors: ActorTable) {
    func apply(to slot: inout Slot) {
      let wasPresent = slot.isPresent
      slot.apply(op, to: predecessors, actors: actors)
      presentCount += (slot.isPresent ? 1 : 0) - (wasPresent ? 1 : 0)
    }
    apply(to: &slots[key, default: Slot()])
  }

  /// The keys that have a value, in byte order.
  func keys(at clock: Clock = .now) -> [MapKey] {
    slots.filter { $0.value.winner(at: clock) != nil }.map(\.key).sorted()
  }

  /// How many keys have a value.
  /// - Complexity: O(1) now, O(n) in the operations at a past state.
  func count(at clock: Clock) -> Int {
    clock.isNow ? presentCount : slots.values.count { $0.winner(at: clock) != nil }
  }

  /// All keys with their operations, in byte order.
  var sortedSlots: [(key: MapKey, slot: Slot)] {
    slots.map { ($0.key, $0.value) }.sorted { $0.key < $1.key }
  }
}
