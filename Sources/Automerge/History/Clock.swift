/// A past state of a document: how far each actor's operations belong to it.
struct Clock {
  /// For each actor index the greatest counter that is included. Actors past the end are included as a whole or not at
  /// all.
  private var limits: [UInt32]
  private let rest: UInt32
  /// Operations that are excluded although they are not past the limit.
  private var hidden: Hidden?

  private struct Hidden {
    let actor: UInt32
    /// Ascending.
    let counters: [ClosedRange<UInt32>]

    /// The index of the first range that ends at or after a counter.
    func position(_ counter: UInt32) -> Int {
      var low = 0, high = counters.count
      while low < high {
        let middle = (low + high) / 2
        if counters[middle].upperBound < counter { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  /// Includes everything.
  static let now = Clock(limits: [], rest: .max)
  /// Includes nothing.
  static let nothing = Clock(limits: [], rest: 0)

  private init(limits: [UInt32], rest: UInt32) { (self.limits, self.rest) = (limits, rest) }

  /// Whether everything is included, judged without looking at the changes.
  var isNow: Bool { limits.isEmpty && rest == .max && hidden == nil }

  @inline(__always)
  func limit(actor: UInt32) -> UInt32 { Int(actor) < limits.count ? limits[Int(actor)] : rest }

  @inline(__always)
  func covers(_ id: OpId) -> Bool { id.counter <= limit(actor: id.actor) && !(hidden != nil && hides(id)) }

  /// Lowers or raises the limit of an actor's operations.
  mutating func set(_ limit: UInt32, actor: UInt32) {
    let index = Int(actor)
    if index >= limits.count { limits.append(contentsOf: repeatElement(rest, count: index + 1 - limits.count)) }
    limits[index] = limit
  }

  // MARK: Leaving out

  /// The state as it would be without some operations of one actor, given by ascending ranges of their counters.
  func without(_ counters: [ClosedRange<UInt32>], of actor: UInt32) -> Clock {
    var clock = self
    clock.hidden = counters.isEmpty ? nil : Hidden(actor: actor, counters: counters)
    return clock
  }

  /// Whether an operation is excluded.
  func hides(_ id: OpId) -> Bool {
    guard let hidden, hidden.actor == id.actor else { return false }
    let position = hidden.position(id.counter)
    return position < hidden.counters.count && hidden.counters[position].lowerBound <= id.counter
  }

  /// Whether an operation is included, and for how many of `count` operations from there on, up or down by `step`, the
  /// same is certainly true.
  func coverage(from id: OpId, step: Int, count: Int) -> (isIn: Bool, count: Int) {
    let counter = Int(id.counter), limit = Int(limit(actor: id.actor))
    var isIn = counter <= limit, same = count
    if step < 0, !isIn { same = min(same, counter - limit) }
    if step >= 0, isIn { same = min(same, limit - counter + 1) }
    guard let hidden, hidden.actor == id.actor else { return (isIn, same) }
    let position = hidden.position(id.counter)
    if hides(id) {
      let range = hidden.counters[position]
      isIn = false
      same = min(same, step < 0 ? counter - Int(range.lowerBound) + 1 : Int(range.upperBound) - counter + 1)
    } else if step < 0 {
      if position > 0 { same = min(same, counter - Int(hidden.counters[position - 1].upperBound)) }
    } else if position < hidden.counters.count {
      same = min(same, Int(hidden.counters[position].lowerBound) - counter)
    }
    return (isIn, same)
  }
}
