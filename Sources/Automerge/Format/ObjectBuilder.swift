/// Builds a document's objects from its table of operations.
struct ObjectBuilder {
  private let store: ObjectStore
  private let bytes: TextBytes
  private let limit: Int
  private var otherCount = 0
  private var object = OpId.zero
  /// As the columns name the object.
  private var objectName: OpRows.Id?
  private var stored: StoredObject?
  /// Fills `stored` if it is a sequence.
  private var builder: TextTreeBuilder?
  /// Where the text that `ValueDecoder.readText` last found was stored.
  private var textStart = 0
  /// The key of the map whose slot is being filled.
  private var key: MapKey?
  private var ops: [StoredOp] = []
  /// Operations on the last element of the sequence being filled that are not yet added to it.
  private var updates: [StoredOp] = []
  private var isFirstRow = true

  /// - Parameter limit: how many operations other than typing and deleting there may be
  init(store: ObjectStore, atMost limit: Int) {
    self.store = store
    bytes = store.bytes
    self.limit = limit
  }

  mutating func read(_ columns: OpColumnReader) throws(FormatError) {
    var columns = columns
    columns.memberLimit = limit
    while true {
      while try addText(from: &columns) {}
      guard let rows = try columns.next(nextId: nil) else { break }
      try add(rows)
    }
    try columns.expectEnd()
    closeObject()
  }

  private mutating func closeObject() {
    closeSlot()
    closeElement()
    builder?.finish()
    builder = nil
  }

  private func checked(_ id: OpRows.Id) throws(FormatError) -> OpId {
    guard id.actor < UInt64(store.actors.count), let counter = UInt32(exactly: id.counter), counter > 0 else {
      throw .invalid(.actor, at: 0)
    }
    return OpId(counter: counter, actor: UInt32(id.actor))
  }

  private mutating func add(_ rows: OpRows) throws(FormatError) {
    var owner = OpId.zero
    if let named = rows.object { owner = try checked(named) }
    if owner != object || isFirstRow {
      closeObject()
      guard isFirstRow || store.actors.precedes(object, owner) else { throw .invalid(.object, at: 0) }
      (object, objectName) = (owner, rows.object)
      stored = store[owner]
      if case .sequence(let tree)? = stored { builder = TextTreeBuilder(tree) }
      isFirstRow = false
    }
    guard let stored, let named = rows.id else { throw .invalid(.object, at: 0) }
    let id = try checked(named)
    guard id.counter <= UInt32.max - UInt32(rows.count) else { throw .valueOutOfRange(at: 0) }
    // What an operation refers to was made before it, so it has a smaller counter.
    guard object.counter < id.counter else { throw .invalid(.object, at: 0) }
    switch (stored, rows.key) {
    case (.map, .map(let key)):
      guard rows.count == 1, !rows.isInsert else { throw .invalid(.key, at: 0) }
      try add(rows, id: id, key: MapKey(key))
    case (.sequence, .element(let element)):
      var reference = OpId.zero
      if let element { reference = try checked(element) }
      guard rows.isInsert else {
        try update(rows, id: id, element: reference)
        return
      }
      guard reference.counter < id.counter else { throw .invalid(.key, at: 0) }
      closeElement()
      try insert(rows, id: id, reference: reference)
    case (.map, .element), (.sequence, .map):
      throw .invalid(.key, at: 0)
    }
  }

  private mutating func add(_ rows: OpRows, id: OpId, key: MapKey) throws(FormatError) {
    if let current = self.key, current != key {
      guard current < key else { throw .invalid(.key, at: 0) }
      closeSlot()
    }
    if let last = ops.last, !store.actors.precedes(last.id, id) { throw .invalid(.key, at: 0) }
    self.key = key
    ops.append(try storedOp(rows, id: id))
  }

  private mutating func closeSlot() {
    if let key { store.map(object)?[key] = Slot(ops: ops) }
    key = nil
    ops.removeAll()
  }

  private mutating func insert(_ rows: OpRows, id: OpId, reference: OpId) throws(FormatError) {
    guard rows.action == .set, !rows.expand, rows.markName == nil, rows.group.count < 2, rows.value.isText else {
      guard rows.count == 1 else {
        for row in 0..<rows.count {
          try insert(
            rows.single(row), id: id.advanced(by: row), reference: row == 0 ? reference : id.advanced(by: row - 1))
        }
        return
      }
      let slot = Slot(ops: [try storedOp(rows, id: id)])
      builder?.appendIrregular(slot, origin: reference)
      return
    }
    guard bytes.hasRoom(for: rows.value.bytes.count) else { throw .tooMany(limit: TextBytes.limit, at: 0) }
    let start = bytes.append(rows.value.bytes, actor: 0)
    try insertText(
      start, byteCount: rows.value.byteCount, count: rows.count, id: id, reference: reference,
      deletion: rows.group.first)
  }

  /// Adds the next rows if they are typed text of the sequence being filled; false if that is not certain.
  private mutating func addText(from columns: inout OpColumnReader) throws(FormatError) -> Bool {
    guard builder != nil, try columns.steady.read(), columns.steady.object == objectName, columns.steady.mayBeText
    else {
      return false
    }
    if columns.value.text.left == 0 {
      guard let text = try columns.value.readText() else { return false }
      guard bytes.hasRoom(for: text.count) else { throw .tooMany(limit: TextBytes.limit, at: 0) }
      textStart = bytes.append(text, actor: 0)
    }
    let text = columns.value.text
    guard let rows = try columns.nextText() else { return false }
    let id = try checked(rows.id)
    guard id.counter <= UInt32.max - UInt32(rows.count) else { throw .valueOutOfRange(at: 0) }
    guard object.counter < id.counter else { throw .invalid(.object, at: 0) }
    let reference = try rows.reference.map { (id) throws(FormatError) in try checked(id) } ?? .zero
    guard reference.counter < id.counter else { throw .invalid(.key, at: 0) }
    closeElement()
    try insertText(
      textStart + text.taken * text.byteCount, byteCount: text.byteCount, count: rows.count, id: id,
      reference: reference, deletion: rows.deletion)
    return true
  }

  /// Adds the scalars in `bytes` from `start` on, in runs that are not too long.
  @inline(__always)
  private mutating func insertText(
    _ start: Int, byteCount: Int, count: Int, id: OpId, reference: OpId, deletion: OpRows.Id?
  ) throws(FormatError) {
    let perRun = TextRun.maximumByteCount / byteCount
    var row = 0
    while row < count {
      let rows = min(perRun, count - row), units = byteCount == 4 ? 2 : 1
      var run = TextRun(
        id: id.advanced(by: row), origin: row == 0 ? reference : id.advanced(by: row - 1),
        text: start + row * byteCount,
        measure: TextMeasure(utf8: rows * byteCount, scalars: rows, utf16: rows * units))
      if let deletion {
        let counter = deletion.counter + Int64(row) * deletion.step
        run.deletion = try checked(OpRows.Id(actor: deletion.actor, counter: counter))
        let last = try checked(OpRows.Id(actor: deletion.actor, counter: counter + Int64(rows - 1) * deletion.step))
        guard run.id.counter < run.deletion.counter, run.lastId.counter < last.counter else {
          throw .invalid(.predecessor, at: 0)
        }
        run.step = rows > 1 ? Int8(deletion.step) : 0
      }
      builder?.append(run)
      row += rows
    }
  }

  /// Reads a row about the previous element, whose operations no longer fit a run.
  private mutating func update(_ rows: OpRows, id: OpId, element: OpId) throws(FormatError) {
    guard rows.count == 1, let last = builder?.last, last.lastId == element else { throw .invalid(.key, at: 0) }
    let before = updates.last?.id ?? builder?.lastOp ?? element
    guard store.actors.precedes(before, id) else { throw .invalid(.key, at: 0) }
    updates.append(try storedOp(rows, id: id))
  }

  /// Adds the operations on the last element to it, all at once.
  private mutating func closeElement() {
    guard !updates.isEmpty else { return }
    builder?.addToLast(updates)
    updates.removeAll()
  }

  private mutating func storedOp(_ rows: OpRows, id: OpId) throws(FormatError) -> StoredOp {
    otherCount += 1
    guard otherCount <= limit else { throw .tooMany(limit: limit, at: 0) }
    guard rows.action != .delete else { throw .invalid(.action, at: 0) }
    if rows.action == .increment {
      let code = rows.value.code
      guard code == RawValue.Code.int || code == RawValue.Code.uint, !rows.isInsert else {
        throw .badValue(typeCode: code, at: 0)
      }
    }
    var op = StoredOp(
      id: id, action: rows.action, value: try rows.value.value(at: 0), expand: rows.expand, markName: rows.markName)
    for member in rows.group {
      let successor = try checked(member)
      let previous = op.successors.last ?? id
      guard store.actors.precedes(previous, successor) else { throw .invalid(.predecessor, at: 0) }
      op.successors.append(successor)
    }
    if op.action.makesObject {
      guard store.type(of: id) == nil else { throw .invalid(.object, at: 0) }
      store.make(id, op.action)
    }
    return op
  }
}

extension OpRows {
  /// One row as rows of its own, without id and key.
  fileprivate func single(_ row: Int) -> OpRows {
    var single = self
    single.count = 1
    let start = value.bytes.startIndex + row * value.byteCount
    single.value = ValueRun(
      code: value.code, byteCount: value.byteCount, count: 1, bytes: value.bytes[start..<start + value.byteCount])
    single.group = Group()
    for id in group { single.group.append(Id(actor: id.actor, counter: id.counter + Int64(row) * id.step)) }
    return single
  }
}
