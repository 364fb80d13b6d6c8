/// Keystrokes of the document's own writer, buffered until anything else of the document is used.
///
/// Further typing or deleting at one place does not depend on the text. Applied together, such keystrokes make the same
/// operations and changes as one by one, because nothing happens between them: `Document` applies them before it does
/// anything else.
///
/// They are buffered only for a text whose elements are all plain scalars. Its length is known, so a keystroke at
/// another place is buffered too, once those before it are applied.
struct Keystrokes: ~Copyable {
  private enum Kind { case none, insertion, oneDeletion, forwardDeletion, backwardDeletion }

  /// How many are buffered at most; room for all of them is reserved with the first one.
  static let limit = 1024

  /// The text that they edit; nil if none is to be buffered.
  private(set) var object: ObjId?
  fileprivate private(set) var unit = TextUnit.scalars
  /// The length of the text including them.
  private var length = 0
  /// Whether every scalar of the text is one unit.
  private var isNarrow = false
  /// Whether an operation before them is not committed yet.
  private var isTransactionOpen = false

  private var kind = Kind.none
  /// Where the next insertion must be to continue; a deletion backward must be directly before it.
  private var next = 0
  fileprivate let text = Arena<UInt8>(capacity: limit)
  /// How many are buffered; each is one operation.
  private(set) var count = 0
  /// The number of changes that the first ones make, with the same number of operations and the same time each.
  fileprivate private(set) var changeCount = 0
  fileprivate private(set) var opsPerChange = 0
  fileprivate private(set) var time: Int64 = 0
  /// How many come after these changes.
  private(set) var openCount = 0

  // MARK: Expecting

  /// Buffers none until `expect` is called again.
  mutating func expectNone() { object = nil }

  /// Starts to buffer keystrokes in a text of this length, in which the pending transaction made its last edit.
  mutating func expect(in object: ObjId, length: Int, isNarrow: Bool, unit: TextUnit) {
    (self.object, self.length, self.isNarrow, self.unit) = (object, length, isNarrow, unit)
    isTransactionOpen = true
    kind = .none
  }

  @inline(__always)
  private func expects(_ object: ObjId, _ unit: TextUnit) -> Bool {
    guard let expected = self.object else { return false }
    return unit == self.unit && expected.isSame(as: object)
  }

  // MARK: Keeping

  /// What to do with a keystroke: nothing, as it is buffered; apply the buffered ones and ask again; or apply it too.
  enum Answer { case kept, afterThese, notKept }

  /// Buffers an insertion of one ASCII character that continues the last one; false if it is anything else.
  @inline(__always)
  mutating func keep(nextLetter letter: UInt8, in object: ObjId, at start: UInt64, unit: TextUnit) -> Bool {
    guard kind == .insertion, start == UInt64(truncatingIfNeeded: next), count < Self.limit, expects(object, unit)
    else { return false }
    text.append(letter)
    next &+= 1
    length &+= 1
    count &+= 1
    openCount &+= 1
    return true
  }

  /// - Parameter value: not empty
  mutating func keep(insertionOf value: inout String, in object: ObjId, at start: UInt64, unit: TextUnit) -> Answer {
    guard expects(object, unit) else { return .notKept }
    let goesOn = kind == .insertion && start == UInt64(next)
    guard goesOn || (count == 0 && start <= UInt64(length)) else { return count == 0 ? .notKept : .afterThese }
    let kept = append(&value)
    guard kept > 0 else { return count == 0 ? .notKept : .afterThese }
    kind = .insertion
    next = (goesOn ? next : Int(start)) + kept
    length += kept
    return .kept
  }

  /// Buffers ASCII text, as far as there is room; returns how many keystrokes were buffered.
  private mutating func append(_ value: inout String) -> Int {
    let room = Self.limit - count
    let kept = value.withUTF8 { utf8 in
      guard utf8.count <= room, utf8.allSatisfy({ $0 < 0x80 }) else { return 0 }
      for byte in utf8 { text.append(byte) }
      return utf8.count
    }
    count += kept
    openCount += kept
    return kept
  }

  /// Buffers a deletion of the unit after `start`.
  @inline(__always)
  mutating func keep(deletionIn object: ObjId, at start: UInt64, unit: TextUnit) -> Answer {
    guard expects(object, unit), isNarrow, start < UInt64(length) else { return .notKept }
    if count == 0 {
      kind = .oneDeletion
      next = Int(start)
    } else if count == Self.limit {
      return .afterThese
    } else if start == UInt64(next), kind == .oneDeletion || kind == .forwardDeletion {
      kind = .forwardDeletion
    } else if start &+ 1 == UInt64(next), kind == .oneDeletion || kind == .backwardDeletion {
      kind = .backwardDeletion
      next -= 1
    } else {
      return .afterThese
    }
    length -= 1
    count += 1
    openCount += 1
    return .kept
  }

  /// Ends a change without a message; false if it is not like the ones before it.
  @inline(__always)
  mutating func keepCommit(time: Int64) -> Bool {
    guard openCount > 0, !isTransactionOpen else { return false }
    if changeCount == 0 {
      (opsPerChange, self.time) = (openCount, time)
    } else if openCount != opsPerChange || time != self.time {
      return false
    }
    changeCount += 1
    openCount = 0
    return true
  }

  /// Call when everything before the keystrokes to come is committed.
  mutating func didCommit() { isTransactionOpen = false }

  // MARK: Applying

  fileprivate enum Edit { case insertion(at: Int), forwardDeletion(at: Int), backwardDeletion(from: Int) }

  /// The edit that they amount to.
  fileprivate var edit: Edit {
    switch kind {
    case .none, .insertion: .insertion(at: next - count)
    case .oneDeletion, .forwardDeletion: .forwardDeletion(at: next)
    case .backwardDeletion: .backwardDeletion(from: next + count - 1)
    }
  }

  fileprivate mutating func clear() {
    if openCount > 0 { isTransactionOpen = true }
    text.removeAll()
    (kind, count, changeCount, openCount) = (.none, 0, 0, 0)
  }
}

extension ObjId {
  /// Whether both are equal; faster if they are copies of one.
  @inline(__always)
  fileprivate func isSame(as other: ObjId) -> Bool {
    guard counter == other.counter, let own = actor?.bytes, let theirs = other.actor?.bytes else {
      return self == other
    }
    return own.withUnsafeBufferPointer { own in
      theirs.withUnsafeBufferPointer { theirs in
        own.count == theirs.count && (own.baseAddress == theirs.baseAddress || own.elementsEqual(theirs))
      }
    }
  }
}

extension DocumentCore {
  /// Prepares to buffer keystrokes after a local edit of a text, if they can be buffered.
  func expect(_ keystrokes: inout Keystrokes, in object: ObjId, _ tree: TextTree, unit: TextUnit) {
    guard isolation == nil, unit != .graphemes, tree.slots.isEmpty, transaction != nil, hasRoomForKeystrokes else {
      return
    }
    let isNarrow = unit == .scalars || tree.total[.utf8] == tree.total[.scalars]
    keystrokes.expect(in: object, length: tree.total[unit], isNarrow: isNarrow, unit: unit)
  }

  private var hasRoomForKeystrokes: Bool {
    let next = transaction.map { Int($0.startOp) + Int($0.opCount) } ?? Int(graph.maxOp) + 1
    return next < Int(UInt32.max) - Keystrokes.limit && log.hasRoom(for: Keystrokes.limit)
      && bytes.hasRoom(for: Keystrokes.limit)
  }

  /// Applies the buffered keystrokes, and continues to expect others.
  func apply(_ keystrokes: inout Keystrokes) {
    guard keystrokes.count > 0, let object = keystrokes.object else { return }
    do throws(DocError) {
      let (id, tree) = try text(object)
      switch keystrokes.edit {
      case .insertion(let start):
        try keystrokes.text.withElements { (text) throws(DocError) in
          try splice(tree, id, at: start, deleting: 0, unit: keystrokes.unit, inserting: text)
        }
      case .forwardDeletion(let start):
        try delete(tree, id, at: start, count: keystrokes.count, unit: keystrokes.unit)
      case .backwardDeletion(let last):
        try deleteBackward(tree, id, from: last, count: keystrokes.count, unit: keystrokes.unit)
      }
    } catch {
      preconditionFailure("there is room, and what is to be deleted is there: \(error)")
    }
    splitTransaction(
      changeCount: keystrokes.changeCount, opsPerChange: UInt32(keystrokes.opsPerChange),
      openCount: UInt32(keystrokes.openCount), time: keystrokes.time)
    keystrokes.clear()
    if !hasRoomForKeystrokes { keystrokes.expectNone() }
  }

  /// Deletes plain elements one by one, from the one after `last` units on backward. Every element is one unit.
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
