/// One operation in an object, with the operations that came after it.
struct StoredOp: Equatable {
  let id: OpId
  let action: OpAction
  let value: RawValue
  /// For a mark: whether it grows at this side.
  var expand = false
  /// For the beginning of a mark: its name.
  var markName: String?
  /// The operations that overwrote, deleted or incremented this one, ascending.
  var successors: [OpId] = []
  /// The sum of all increments, if this is a counter. Maintained by the slot.
  fileprivate(set) var raised: Int64 = 0

  init(
    id: OpId, action: OpAction, value: RawValue, expand: Bool = false, markName: String? = nil, successors: [OpId] = []
  ) {
    (self.id, self.action, self.value) = (id, action, value)
    (self.expand, self.markName, self.successors) = (expand, markName, successors)
  }

  var isCounter: Bool { action == .set && value.code == RawValue.Code.counter }

  /// Whether the operation has a visible value as long as no other comes after it.
  fileprivate var isValue: Bool {
    switch action {
    case .delete, .increment, .mark: false
    case .makeMap, .makeList, .makeText, .makeTable, .set: true
    }
  }
}

/// What an operation does. Source: automerge-format, section 3.
enum OpAction: UInt8 {
  case makeMap, set, makeList, delete, makeText, increment, makeTable, mark

  var makesObject: Bool {
    switch self {
    case .makeMap, .makeList, .makeText, .makeTable: true
    case .set, .delete, .increment, .mark: false
    }
  }
}

/// The operations at one key of a map or one element of a sequence, ascending by id; in a sequence the insert is first.
///
/// A key may have been written, or a counter incremented, very often, so what is visible now is stored.
struct Slot: Equatable {
  private(set) var ops: [StoredOp]
  /// The visible operations, ascending.
  private var present: [OpId] = []

  init(ops: [StoredOp] = []) {
    self.ops = ops
    settle()
  }

  /// - Complexity: O(log n) in the operations.
  subscript(id: OpId) -> StoredOp? { index(of: id).map { ops[$0] } }

  /// Adds an operation that no other one supersedes yet.
  mutating func add(_ op: StoredOp, actors: ActorTable) {
    var place = firstIndex(from: op.id.counter)
    while place < ops.count, actors.precedes(ops[place].id, op.id) { place += 1 }
    ops.insert(op, at: place)
    guard op.isValue else { return }
    place = present.count
    while place > 0, actors.precedes(op.id, present[place - 1]) { place -= 1 }
    present.insert(op.id, at: place)
  }

  /// Adds operations, with all operations that came after them, at the end.
  mutating func append(_ more: [StoredOp]) {
    ops += more
    settle()
  }

  /// Records that an operation came after those with `ids`. Ignores unknown ids.
  mutating func addSuccessor(_ successor: StoredOp, to ids: [OpId], actors: ActorTable) {
    for id in ids {
      guard let index = index(of: id) else { continue }
      var place = ops[index].successors.count
      while place > 0, actors.precedes(successor.id, ops[index].successors[place - 1]) { place -= 1 }
      ops[index].successors.insert(successor.id, at: place)
      if successor.action == .increment, ops[index].isCounter {
        ops[index].raised &+= successor.value.incrementBy
      } else {
        present.removeAll { $0 == id }
      }
    }
  }

  /// Whether there is a value now.
  var isPresent: Bool { !present.isEmpty }

  /// Whether the slot has several values that were put concurrently.
  var isInConflict: Bool { present.count > 1 }

  /// Whether an operation sets a counter.
  func isCounter(_ id: OpId) -> Bool { self[id]?.isCounter ?? false }

  /// Determines what is visible now, and the values of counters.
  private mutating func settle() {
    present.removeAll()
    for index in ops.indices where ops[index].isValue {
      var isOverruled = false, raised: Int64 = 0
      for successor in ops[index].successors {
        if ops[index].isCounter, let op = self[successor], op.action == .increment {
          raised &+= op.value.incrementBy
        } else {
          isOverruled = true
        }
      }
      ops[index].raised = raised
      if !isOverruled { present.append(ops[index].id) }
    }
  }

  private func index(of id: OpId) -> Int? {
    var place = firstIndex(from: id.counter)
    // Several actors may have reached the same counter.
    while place < ops.count, ops[place].id.counter == id.counter {
      if ops[place].id == id { return place }
      place += 1
    }
    return nil
  }

  /// The index of the first operation with this counter or a greater one.
  private func firstIndex(from counter: UInt32) -> Int {
    if let last = ops.last, last.id.counter < counter { return ops.count }
    var low = 0, high = ops.count
    while low < high {
      let middle = (low + high) / 2
      if ops[middle].id.counter < counter { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The visible operations, ascending; the last one wins.
  /// - Complexity: O(log n) in the operations now, O(n log n) in the past.
  func visible(at clock: Clock = .now) -> [StoredOp] {
    clock.isNow ? present.compactMap { self[$0] } : ops.filter { isVisible($0, at: clock) }
  }

  func winner(at clock: Clock = .now) -> StoredOp? {
    clock.isNow ? present.last.flatMap { self[$0] } : ops.last { isVisible($0, at: clock) }
  }

  private func isVisible(_ op: StoredOp, at clock: Clock) -> Bool {
    op.isValue && clock.covers(op.id) && !isOverruled(op, isCounter: op.isCounter, at: clock)
  }

  /// Whether an operation came after this one, apart from increments of a counter. If an excluded operation came in
  /// between, what came after that counts as having come after this one.
  private func isOverruled(_ op: StoredOp, isCounter: Bool, at clock: Clock) -> Bool {
    for successor in op.successors {
      if clock.covers(successor) {
        if isCounter, self[successor]?.action == .increment { continue }
        return true
      }
      if clock.hides(successor), let hidden = self[successor],
        isOverruled(hidden, isCounter: isCounter && hidden.isCounter, at: clock)
      {
        return true
      }
    }
    return false
  }

  /// The value that callers see; a counter includes its increments.
  func scalar(of op: StoredOp, at clock: Clock = .now) -> ScalarValue {
    guard case .Counter(let start) = op.value.scalar else { return op.value.scalar }
    if clock.isNow { return .Counter(start &+ op.raised) }
    var total = start
    for successor in op.successors where clock.covers(successor) {
      guard let increment = self[successor], increment.action == .increment else { continue }
      total &+= increment.value.incrementBy
    }
    return .Counter(total)
  }
}

extension RawValue {
  /// How much an increment adds.
  var incrementBy: Int64 { code == Code.uint ? Int64(truncatingIfNeeded: unsigned ?? 0) : signed ?? 0 }

  /// What a value other than a string shows in a text: an object replacement character.
  static let placeholder: [UInt8] = [0xEF, 0xBF, 0xBC]
}

extension StoredOp {
  /// What the operation shows in a text.
  var textUTF8: [UInt8] {
    action == .set && value.code == RawValue.Code.string ? value.bytes : RawValue.placeholder
  }
}
