/// Keystrokes of a document's own writer that go on where the last one left off, kept until somebody wants anything else
/// of the document.
///
/// Typing on, or deleting on, needs no look at the text. Nothing happens between such keystrokes that could make a
/// difference, so applied all at once they make the operations and changes that they would have made one by one:
/// `Document` has them applied before it does anything else.
struct Keystrokes {
  private enum Kind { case none, inserting, deleting, deletingForward, deletingBackward }

  /// As many are kept at a time; there is room for them when the first one is.
  static let limit = 1024

  private var kind = Kind.none
  fileprivate private(set) var object = ObjId.ROOT
  fileprivate private(set) var unit = TextUnit.scalars
  /// Where the next one has to be to go on, in the unit; to delete backward, directly before that.
  private var next = 0
  /// What stands behind `next`, to be deleted forward.
  private var behind = 0
  fileprivate private(set) var text: [UInt8] = []
  /// Each is one operation.
  private(set) var count = 0
  /// The changes that the first ones make, of as many operations each, at one time.
  fileprivate private(set) var changeCount = 0
  fileprivate private(set) var opsPerChange = 0
  fileprivate private(set) var time: Int64 = 0
  /// Those behind these changes.
  fileprivate private(set) var openCount = 0
  /// Whether the first one is part of a transaction that was there before it.
  private var isInTransaction = false

  var isExpected: Bool { kind != .none }

  // MARK: Expecting

  mutating func expectNone() { kind = .none }

  /// The last edit inserted text before `next`.
  mutating func expectInsertion(in object: ObjId, at next: Int, unit: TextUnit) {
    (kind, self.object, self.next, self.unit) = (.inserting, object, next, unit)
  }

  /// The last edit deleted one element between `next` and the `behind` units behind it. Every element is one unit.
  mutating func expectDeletion(in object: ObjId, at next: Int, behind: Int, unit: TextUnit) {
    (kind, self.object, self.next, self.behind, self.unit) = (.deleting, object, next, behind, unit)
  }

  // MARK: Keeping

  /// Keeps an insertion that goes on; false if it does not, or if no more are kept.
  @inline(__always)
  mutating func keep(
    insertionOf value: inout String, in object: ObjId, at start: UInt64, unit: TextUnit, isInTransaction: Bool
  ) -> Bool {
    guard kind == .inserting, start == UInt64(next), unit == self.unit, object == self.object else { return false }
    let room = Self.limit - count
    let kept = value.withUTF8 { utf8 in
      guard utf8.count <= room else { return 0 }
      if utf8.count == 1, utf8[0] < 0x80 {
        text.append(utf8[0])
        return 1
      }
      guard utf8.allSatisfy({ $0 < 0x80 }) else { return 0 }
      text.append(contentsOf: utf8)
      return utf8.count
    }
    guard kept > 0 else { return false }
    next += kept
    keep(kept, isInTransaction: isInTransaction)
    return true
  }

  /// Keeps a deletion of one unit behind `start` that goes on; false if it does not, or if no more are kept.
  @inline(__always)
  mutating func keep(
    deletionIn object: ObjId, at start: UInt64, unit: TextUnit, isInTransaction: Bool
  ) -> Bool {
    guard kind != .none, kind != .inserting, count < Self.limit, unit == self.unit else { return false }
    if start == UInt64(next) {
      guard kind != .deletingBackward, behind > 0, object == self.object else { return false }
      kind = .deletingForward
      behind -= 1
    } else {
      guard kind != .deletingForward, start &+ 1 == UInt64(next), object == self.object else { return false }
      kind = .deletingBackward
      next -= 1
    }
    keep(1, isInTransaction: isInTransaction)
    return true
  }

  @inline(__always)
  private mutating func keep(_ more: Int, isInTransaction: Bool) {
    if count == 0 { self.isInTransaction = isInTransaction }
    count += more
    openCount += more
  }

  /// Ends a change without a message; false if it is not like the ones before it.
  @inline(__always)
  mutating func keepCommit(time: Int64) -> Bool {
    guard openCount > 0, !isInTransaction else { return false }
    if changeCount == 0 {
      (opsPerChange, self.time) = (openCount, time)
    } else if openCount != opsPerChange || time != self.time {
      return false
    }
    changeCount += 1
    openCount = 0
    return true
  }

  // MARK: Applying

  fileprivate enum Edit { case insertion(at: Int), forwardDeletion(at: Int), backwardDeletion(from: Int) }

  /// What they come to.
  fileprivate var edit: Edit {
    switch kind {
    case .none, .inserting: .insertion(at: next - count)
    case .deleting, .deletingForward: .forwardDeletion(at: next)
    case .deletingBackward: .backwardDeletion(from: next + count - 1)
    }
  }

  /// Starts anew where they end.
  fileprivate mutating func clear() {
    text.removeAll(keepingCapacity: true)
    (count, changeCount, openCount) = (0, 0, 0)
  }
}

extension DocumentCore {
  /// Expects that a local edit of a text is gone on with, if a keystroke that does needs no look at the text: every
  /// element is a plain scalar.
  /// - Parameter added: by how many units it made the text longer, or -1 if it deleted one.
  func expectKeystrokes(in object: ObjId, _ tree: TextTree, behind start: Int, added: Int, unit: TextUnit) {
    guard isolation == nil, unit != .graphemes, tree.slots.isEmpty, hasRoomForKeystrokes else { return }
    if added > 0 {
      keystrokes.expectInsertion(in: object, at: start + added, unit: unit)
    } else if added == -1, unit == .scalars || tree.total[.utf8] == tree.total[.scalars] {
      keystrokes.expectDeletion(in: object, at: start, behind: tree.total[unit] - start, unit: unit)
    }
  }

  private var hasRoomForKeystrokes: Bool {
    let next = transaction.map { Int($0.startOp) + Int($0.opCount) } ?? Int(graph.maxOp) + 1
    return next < Int(UInt32.max) - Keystrokes.limit && log.hasRoom(for: Keystrokes.limit)
      && bytes.hasRoom(for: Keystrokes.limit)
  }

  /// Applies the keystrokes that are kept, and goes on expecting the next one.
  func applyKeystrokes() {
    guard keystrokes.count > 0 else { return }
    do throws(DocError) {
      let (id, tree) = try text(keystrokes.object)
      switch keystrokes.edit {
      case .insertion(let start):
        try keystrokes.text.withUnsafeBufferPointer { (utf8) throws(DocError) in
          try splice(tree, id, at: start, deleting: 0, unit: keystrokes.unit, inserting: utf8)
        }
      case .forwardDeletion(let start):
        try delete(tree, id, at: start, count: keystrokes.count, unit: keystrokes.unit)
      case .backwardDeletion(let last):
        try deleteBackward(tree, id, from: last, count: keystrokes.count, unit: keystrokes.unit)
      }
    } catch {
      preconditionFailure("there is room and what is to be deleted is there: \(error)")
    }
    if keystrokes.changeCount > 0 {
      splitTransaction(
        changeCount: keystrokes.changeCount, opsPerChange: UInt32(keystrokes.opsPerChange),
        openCount: UInt32(keystrokes.openCount), time: keystrokes.time)
    }
    keystrokes.clear()
    if !hasRoomForKeystrokes { keystrokes.expectNone() }
  }

  /// Deletes plain elements one by one, from the one behind `last` units on backward. Every element is one unit.
  private func deleteBackward(
    _ tree: TextTree, _ object: OpId, from last: Int, count: Int, unit: TextUnit
  ) throws(DocError) {
    var at = last, left = count
    while left > 0 {
      let (place, before) = tree.locate(at + 1, unit)
      let run = tree[place], inside = at - before[unit], taken = min(left, inside + 1)
      let id = try takeIds(taken)
      tree.markDeleted(
        place, element: inside + 1 - taken, count: taken, by: id.advanced(by: taken - 1), step: taken > 1 ? -1 : 1)
      log.append(
        .deletion(object: object, from: run.id.advanced(by: inside), count: taken, step: taken > 1 ? -1 : 1), id: id)
      at -= taken
      left -= taken
    }
  }
}
