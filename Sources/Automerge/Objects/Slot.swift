/// One operation as it stands in an object, with what came after it.
struct StoredOp: Equatable {
  let id: OpId
  let action: OpAction
  let value: RawValue
  /// For marks: whether they grow at this side.
  var expand = false
  /// For the begin of a mark: its name.
  var markName: String?
  /// The operations that overwrote, deleted or incremented this one, ascending.
  var successors: [OpId] = []
  /// What all increments add to this one, if it is a counter. Kept by the slot.
  fileprivate(set) var raised: Int64 = 0

  init(
    id: OpId, action: OpAction, value: RawValue, expand: Bool = false, markName: String? = nil, successors: [OpId] = []
  ) {
    (self.id, self.action, self.value) = (id, action, value)
    (self.expand, self.markName, self.successors) = (expand, markName, successors)
  }

  var isCounter: Bool { action == .set && value.code == RawValue.Code.counter }

  /// Whether it shows something, as long as nothing came after it.
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
/// A key may have been written, or a counter raised, very often: what shows now is kept, not searched.
struct Slot: Equatable {
  private(set) var ops: [StoredOp]
  /// Those that are visible now, ascending.
  private var present: [OpId] = []

  init(ops: [StoredOp] = []) {
    self.ops = ops
    settle()
  }

  /// - Complexity: O(log n) in the operations.
  subscript(id: OpId) -> StoredOp? { index(of: id).map { ops[$0] } }

  /// Adds an operation that nothing came after yet.
  mutating func add(_ op: StoredOp, actors: ActorTable) {
    var place = firstIndex(from: op.id.counter)
    while place < ops.count, actors.precedes(ops[place].id, op.id) { place += 1 }
    ops.insert(op, at: place)
    guard op.isValue else { return }
    place = present.count
    while place > 0, actors.precedes(op.id, present[place - 1]) { place -= 1 }
    present.insert(op.id, at: place)
  }

  /// Adds operations that are known with all that came after them, after the others.
  mutating func append(_ more: [StoredOp]) {
    ops += more
    settle()
  }

  /// Records that an operation came after those with `ids`. Unknown ids are passed over.
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

  /// Whether several values stand here now, put concurrently.
  var isInConflict: Bool { present.count > 1 }

  /// Whether an operation sets a counter.
  func isCounter(_ id: OpId) -> Bool { self[id]?.isCounter ?? false }

  /// Finds out what shows now and how far counters are.
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

  /// Where the operations with this counter or a greater one begin.
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

  /// Whether something came after the operation, apart from increments of a counter. What came after an operation that
  /// is left out came after what that one followed, too.
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

  /// The value that callers see; counters with their increments added.
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
  /// What an increment adds.
  var incrementBy: Int64 { code == Code.uint ? Int64(truncatingIfNeeded: unsigned ?? 0) : signed ?? 0 }

  /// Reads in a text as itself if it is a string, and as one object replacement character if not.
  static let placeholder: [UInt8] = [0xEF, 0xBF, 0xBC]
}

extension StoredOp {
  /// What the operation shows in a text.
  var textUTF8: [UInt8] {
    action == .set && value.code == RawValue.Code.string ? value.bytes : RawValue.placeholder
  }
}
