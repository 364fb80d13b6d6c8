/// A past state of a document: how far each actor's operations belong to it.
struct Clock {
  /// For each actor index the greatest counter that is in. Actors behind the end are in as a whole or not at all.
  private var limits: [UInt32]
  private let rest: UInt32

  /// Everything is in.
  static let now = Clock(limits: [], rest: .max)
  /// Nothing is in.
  static let nothing = Clock(limits: [], rest: 0)

  private init(limits: [UInt32], rest: UInt32) { (self.limits, self.rest) = (limits, rest) }

  /// Whether everything is in, without a look at the changes.
  var isNow: Bool { limits.isEmpty && rest == .max }

  @inline(__always)
  func limit(actor: UInt32) -> UInt32 { Int(actor) < limits.count ? limits[Int(actor)] : rest }

  @inline(__always)
  func covers(_ id: OpId) -> Bool { id.counter <= limit(actor: id.actor) }

  /// Lowers or raises how far an actor's operations belong to the state.
  mutating func set(_ limit: UInt32, actor: UInt32) {
    let index = Int(actor)
    if index >= limits.count { limits.append(contentsOf: repeatElement(rest, count: index + 1 - limits.count)) }
    limits[index] = limit
  }
}
