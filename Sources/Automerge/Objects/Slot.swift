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
struct Slot: Equatable {
  var ops: [StoredOp] = []

  subscript(id: OpId) -> StoredOp? { ops.first { $0.id == id } }

  mutating func add(_ op: StoredOp, actors: ActorTable) {
    let place = ops.firstIndex { actors.precedes(op.id, $0.id) } ?? ops.count
    ops.insert(op, at: place)
  }

  /// Records that `successor` came after the operations `ids`. Unknown ids are passed over.
  mutating func addSuccessor(_ successor: OpId, to ids: [OpId], actors: ActorTable) {
    for index in ops.indices where ids.contains(ops[index].id) {
      let place = ops[index].successors.firstIndex { actors.precedes(successor, $0) } ?? ops[index].successors.count
      ops[index].successors.insert(successor, at: place)
    }
  }

  /// The visible operations, ascending; the last one wins.
  func visible(at clock: Clock = .now) -> [StoredOp] { ops.filter { isVisible($0, at: clock) } }

  func winner(at clock: Clock = .now) -> StoredOp? { ops.last { isVisible($0, at: clock) } }

  private func isVisible(_ op: StoredOp, at clock: Clock) -> Bool {
    switch op.action {
    case .delete, .increment, .mark: return false
    case .makeMap, .makeList, .makeText, .makeTable, .set: break
    }
    guard clock.covers(op.id) else { return false }
    let isCounter = op.action == .set && op.value.code == RawValue.Code.counter
    return !isOverruled(op, isCounter: isCounter, at: clock)
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
