/// What one key or element shows in one state of the document.
struct ShownValue {
  let op: StoredOp
  /// Whether there are other values besides.
  let isConflict: Bool
  /// The value; a counter includes its increments.
  let scalar: ScalarValue

  /// Nil if there is no value.
  init?(_ slot: Slot, at clock: Clock, _ actors: ActorTable) {
    let visible = slot.visible(at: clock)
    guard let winner = visible.last else { return nil }
    op = winner
    isConflict = visible.count > 1
    scalar = winner.action.makesObject ? .Null : slot.scalar(of: winner, at: clock, actors)
  }

  /// How much a counter increased since another state that showed the same operation.
  func growth(since before: ShownValue) -> Int64 {
    guard case .Counter(let now) = scalar, case .Counter(let then) = before.scalar else { return 0 }
    return now &- then
  }

  var isString: Bool { op.action == .set && op.value.code == RawValue.Code.string }
}

/// The difference of one key or element between two states.
enum SlotDifference {
  case nothing
  case came(ShownValue)
  case went(ShownValue)
  /// Another operation won, or a conflict ended.
  case replaced(ShownValue, by: ShownValue)
  /// The same operation is visible.
  case stayed(ShownValue, becameConflict: Bool, growth: Int64)

  init(_ slot: Slot, _ before: Clock, _ after: Clock, _ actors: ActorTable) {
    switch (ShownValue(slot, at: before, actors), ShownValue(slot, at: after, actors)) {
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
