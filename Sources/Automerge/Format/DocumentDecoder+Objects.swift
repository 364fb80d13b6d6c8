/// Builds a document's objects from its table of operations.
struct ObjectBuilder {
  private let store: ObjectStore
  private let bytes: TextBytes
  private let limit: Int
  private var otherCount = 0
  private var object = OpId.zero
  private var stored: StoredObject?
  /// The slot being filled, of a map.
  private var key: MapKey?
  private var ops: [StoredOp] = []
  /// Operations on the last element of the sequence being filled, not yet added to it.
  private var updates: [StoredOp] = []
  private var isFirstRow = true

  init(store: ObjectStore, size: Int) {
    self.store = store
    bytes = store.bytes
    limit = FormatLimits.otherOps + 16 * size
  }

  mutating func read(_ columns: OpColumnReader) throws(FormatError) {
    var columns = columns
    while let rows = try columns.next(nextId: nil) { try add(rows) }
    try columns.expectEnd()
    closeSlot()
    closeElement()
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
      closeSlot()
      closeElement()
      guard isFirstRow || store.actors.precedes(object, owner) else { throw .invalid(.object, at: 0) }
      object = owner
      stored = store[owner]
      isFirstRow = false
    }
    guard let stored, let named = rows.id else { throw .invalid(.object, at: 0) }
    let id = try checked(named)
    guard id.counter <= UInt32.max - UInt32(rows.count) else { throw .valueOutOfRange(at: 0) }
    // What an operation refers to was there when it was made, so it has a smaller counter.
    guard object.counter < id.counter else { throw .invalid(.object, at: 0) }
    switch (stored, rows.key) {
    case (.map, .map(let key)):
      guard rows.count == 1, !rows.isInsert else { throw .invalid(.key, at: 0) }
      try add(rows, id: id, key: MapKey(key))
    case (.sequence(let tree), .element(let element)):
      var reference = OpId.zero
      if let element { reference = try checked(element) }
      guard rows.isInsert else {
        try update(tree, rows, id: id, element: reference)
        return
      }
      guard reference.counter < id.counter else { throw .invalid(.key, at: 0) }
      closeElement()
      try insert(tree, rows, id: id, reference: reference)
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

  private mutating func insert(_ tree: TextTree, _ rows: OpRows, id: OpId, reference: OpId) throws(FormatError) {
    guard rows.action == .set, !rows.expand, rows.markName == nil, rows.group.count < 2, rows.value.isText else {
      guard rows.count == 1 else {
        for row in 0..<rows.count {
          try insert(
            tree, rows.single(row), id: id.advanced(by: row), reference: row == 0 ? reference : id.advanced(by: row - 1)
          )
        }
        return
      }
      tree.appendOdd(Slot(ops: [try storedOp(rows, id: id)]), origin: reference)
      return
    }
    guard bytes.hasRoom(for: rows.value.bytes.count) else { throw .tooMany(limit: TextBytes.limit, at: 0) }
    let width = rows.value.byteCount, perRun = TextRun.largestByteCount / width
    var start = bytes.append(rows.value.bytes, actor: 0), row = 0
    while row < rows.count {
      let count = min(perRun, rows.count - row)
      var run = TextRun(
        id: id.advanced(by: row), origin: row == 0 ? reference : id.advanced(by: row - 1), text: start,
        measure: bytes.measure(start..<start + count * width))
      if let successor = rows.group.first {
        let counter = successor.counter + Int64(row) * successor.step
        run.deletion = try checked(OpRows.Id(actor: successor.actor, counter: counter))
        let last = try checked(
          OpRows.Id(actor: successor.actor, counter: counter + Int64(count - 1) * successor.step))
        guard run.id.counter < run.deletion.counter, run.lastId.counter < last.counter else {
          throw .invalid(.predecessor, at: 0)
        }
        run.step = count > 1 ? Int8(successor.step) : 0
      }
      tree.appendRun(run)
      start += count * width
      row += count
    }
  }

  /// A row about the element before it: its story is longer than a run can tell.
  private mutating func update(_ tree: TextTree, _ rows: OpRows, id: OpId, element: OpId) throws(FormatError) {
    guard rows.count == 1, let last = tree.lastPlace, tree[last].lastId == element else { throw .invalid(.key, at: 0) }
    let run = tree[last]
    let before = updates.last?.id ?? (run.isOdd ? tree.slots[Int(run.text)].slot.ops.last?.id : nil) ?? element
    guard store.actors.precedes(before, id) else { throw .invalid(.key, at: 0) }
    updates.append(try storedOp(rows, id: id))
  }

  /// Adds the operations on the last element to it, all at once.
  private mutating func closeElement() {
    guard !updates.isEmpty, let tree = store.sequence(object), let last = tree.lastPlace else { return }
    let element = tree[last].lastId
    tree.update(tree.makeOdd(last, element: Int(tree[last].count) - 1)) { $0.append(updates) }
    for op in updates { tree.updates[op.id] = element }
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
  /// One row alone, but for id and key.
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
