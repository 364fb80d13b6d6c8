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
  var successors: SortedOps<OpId> = []
  /// The sum of all increments, if this is a counter. Maintained by the slot.
  fileprivate(set) var raised: Int64 = 0

  init(
    id: OpId, action: OpAction, value: RawValue, expand: Bool = false, markName: String? = nil,
    successors: SortedOps<OpId> = []
  ) {
    (self.id, self.action, self.value) = (id, action, value)
    (self.expand, self.markName, self.successors) = (expand, markName, successors)
  }

  var isCounter: Bool { action == .set && value.code == RawValue.Code.counter }

  /// Records an operation that came after this one; true if it increments this counter.
  fileprivate mutating func add(_ successor: StoredOp, _ actors: ActorTable) -> Bool {
    successors.insert(successor.id, actors)
    guard successor.action == .increment, isCounter else { return false }
    raised &+= successor.value.incrementBy
    return true
  }

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
/// A key may have been written, or a counter incremented, very often, and by several people while they were apart. So what is
/// visible now is stored, and an operation that comes late does not move all later ones.
struct Slot: Equatable {
  private var stored: SortedOps<StoredOp>
  private var present = PresentOps()

  /// With no more visible operations, each is searched for.
  private static let fewCount = 8

  init(ops: [StoredOp] = []) {
    stored = []
    settle(ops)
  }

  static func == (left: Slot, right: Slot) -> Bool { left.stored == right.stored }

  /// - Complexity: O(1) for a few, O(n) for many.
  var ops: [StoredOp] { stored.elements }

  var first: StoredOp? { stored.first }

  /// - Complexity: O(log n) in the operations
  subscript(id: OpId, actors: ActorTable) -> StoredOp? { stored[id, actors] }

  /// Adds an operation that no other one supersedes yet.
  mutating func add(_ op: StoredOp, actors: ActorTable) {
    stored.insert(op, actors)
    if op.isValue { present.insert(op.id, actors) }
  }

  /// Adds operations, with all operations that came after them, at the end.
  mutating func append(_ more: [StoredOp]) {
    settle(ops + more)
  }

  /// Applies an operation that comes after others: a new value, an increment, or a deletion.
  mutating func apply(_ op: StoredOp, to predecessors: [OpId], actors: ActorTable) {
    addSuccessor(op, to: predecessors, actors: actors)
    if op.action != .delete { add(op, actors: actors) }
  }

  /// Records that an operation came after those with `ids`. Ignores unknown ids.
  mutating func addSuccessor(_ successor: StoredOp, to ids: [OpId], actors: ActorTable) {
    for id in ids {
      guard let isIncrement = stored.update(id, actors, { $0.add(successor, actors) }) else { continue }
      if !isIncrement { present.remove(id, actors) }
    }
  }

  /// Whether there is a value now.
  var isPresent: Bool { !present.isEmpty }

  /// Whether the slot has several values that were put concurrently.
  var isInConflict: Bool { present.count > 1 }

  /// Whether an operation sets a counter.
  func isCounter(_ id: OpId, _ actors: ActorTable) -> Bool { self[id, actors]?.isCounter ?? false }

  /// Takes all operations, and determines what is visible now, and the values of counters.
  private mutating func settle(_ all: [StoredOp]) {
    var ops = all, finder = OpFinder(all), visible: [OpId] = []
    for place in ops.indices where ops[place].isValue {
      let isCounter = ops[place].isCounter
      var isOverruled = false, raised: Int64 = 0
      for successor in ops[place].successors {
        if isCounter, let increment = finder.find(successor), increment.action == .increment {
          raised &+= increment.value.incrementBy
        } else {
          isOverruled = true
        }
      }
      if isCounter { ops[place].raised = raised }
      if !isOverruled { visible.append(ops[place].id) }
    }
    stored = SortedOps(ops)
    present = PresentOps(visible)
  }

  /// The visible operations, ascending; the last one wins.
  /// - Complexity: O(log n) in the operations if few are visible now, otherwise O(n)
  func visible(at clock: Clock = .now) -> [StoredOp] {
    guard clock.isNow else {
      let ops = ops
      var finder = OpFinder(ops)
      return ops.filter { isVisible($0, at: clock, &finder) }
    }
    if present.count <= Self.fewCount { return present.ids.compactMap { stored[$0] } }
    // Each search would pass those that other actors made at the same time.
    var left = present.ids[...]
    return stored.filter { op in
      guard op.id == left.first else { return false }
      left.removeFirst()
      return true
    }
  }

  /// - Complexity: O(log n) in the operations and O(n) in those with the same counter now, O(n) in the past
  func winner(at clock: Clock = .now) -> StoredOp? {
    if clock.isNow { return present.last.flatMap { stored[$0] } }
    let ops = ops
    var finder = OpFinder(ops)
    return ops.last { isVisible($0, at: clock, &finder) }
  }

  private func isVisible(_ op: StoredOp, at clock: Clock, _ finder: inout OpFinder) -> Bool {
    op.isValue && clock.covers(op.id) && !isOverruled(op, isCounter: op.isCounter, at: clock, &finder)
  }

  /// Whether an operation came after this one, apart from increments of a counter. If an excluded operation came in
  /// between, what came after that counts as having come after this one.
  /// - Complexity: O(n) in what came after it, however often each of these names the others
  private func isOverruled(
    _ op: StoredOp, isCounter: Bool, at clock: Clock, _ finder: inout OpFinder
  ) -> Bool {
    var next: (op: StoredOp, isCounter: Bool)? = (op, isCounter)
    var open: [(op: StoredOp, isCounter: Bool)] = []
    // Hidden ones that were looked at: those that only counters led to, and the others.
    var seenCounters: Set<OpId> = [], seenValues: Set<OpId> = []
    while let (op, isCounter) = next {
      for successor in op.successors {
        if clock.covers(successor) {
          if isCounter, finder.find(successor)?.action == .increment { continue }
          return true
        }
        guard clock.hides(successor), let hidden = finder.find(successor) else { continue }
        let staysCounter = isCounter && hidden.isCounter
        let isNew =
          staysCounter ? seenCounters.insert(successor).inserted : seenValues.insert(successor).inserted
        if isNew { open.append((hidden, staysCounter)) }
      }
      next = open.popLast()
    }
    return false
  }

  /// The value that callers see; a counter includes its increments.
  func scalar(of op: StoredOp, at clock: Clock = .now, _ actors: ActorTable) -> ScalarValue {
    guard case .Counter(let start) = op.value.scalar else { return op.value.scalar }
    if clock.isNow { return .Counter(start &+ op.raised) }
    var total = start
    for successor in op.successors where clock.covers(successor) {
      guard let increment = self[successor, actors], increment.action == .increment else { continue }
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
