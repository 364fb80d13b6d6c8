/// What one key or element shows at one state of the document.
struct ShownValue {
  let op: StoredOp
  /// Whether other values stand there besides.
  let isConflict: Bool
  /// The sum of a counter.
  let scalar: ScalarValue

  /// Nil if nothing stands there.
  init?(_ slot: Slot, at clock: Clock) {
    let visible = slot.visible(at: clock)
    guard let winner = visible.last else { return nil }
    op = winner
    isConflict = visible.count > 1
    scalar = winner.action.makesObject ? .Null : slot.scalar(of: winner, at: clock)
  }

  /// How much a counter grew since another state that showed the same operation.
  func growth(since before: ShownValue) -> Int64 {
    guard case .Counter(let now) = scalar, case .Counter(let then) = before.scalar else { return 0 }
    return now &- then
  }

  var isString: Bool { op.action == .set && op.value.code == RawValue.Code.string }
}

/// What happened to one key or element between two states.
enum SlotDifference {
  case nothing
  case came(ShownValue)
  case went(ShownValue)
  /// Another operation won, or the conflict with others is over.
  case replaced(ShownValue, by: ShownValue)
  /// The same operation shows.
  case stayed(ShownValue, becameConflict: Bool, growth: Int64)

  init(_ slot: Slot, _ before: Clock, _ after: Clock) {
    switch (ShownValue(slot, at: before), ShownValue(slot, at: after)) {
    case (nil, nil): self = .nothing
    case (nil, let now?): self = .came(now)
    case (let then?, nil): self = .went(then)
    case (let then?, let now?):
      if then.op.id != now.op.id || then.isConflict && !now.isConflict {
        self = .replaced(then, by: now)
      } else {
        self = .stayed(
          now, becameConflict: now.isConflict && !then.isConflict, growth: now.growth(since: then))
      }
    }
  }
}
