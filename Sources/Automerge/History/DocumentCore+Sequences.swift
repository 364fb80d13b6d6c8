/// Local edits of lists, and of single elements of texts. They make exactly the operations that the reference core
/// makes. Source: automerge-format, section 6.1.
extension DocumentCore {
  /// One element of a sequence: its place, and all operations on it.
  struct Element {
    let place: TextTree.Place
    /// The element's index in the run.
    let offset: Int
    let id: OpId
    let slot: Slot
  }

  func sequence(_ object: ObjId) throws(DocError) -> (id: OpId, tree: TextTree) {
    guard let id = opId(object) else { throw .unknownObject(object) }
    guard let tree = store.sequence(id) else { throw .wrongType(object, objectType(id)) }
    return (id, tree)
  }

  /// The visible element that covers the unit after `index` units.
  func element(_ tree: TextTree, at index: Int, _ unit: TextUnit) throws(DocError) -> Element {
    if isolation != nil {
      guard index >= 0, let id = tree.slot(at: index, unit, clock: view)?.first?.id,
        let element = element(tree, id)
      else { throw .outOfBounds(UInt64(index.magnitude)) }
      return element
    }
    guard index >= 0, index < tree.total[unit] else { throw .outOfBounds(UInt64(index.magnitude)) }
    let (place, start) = tree.locate(index + 1, unit)
    let run = tree[place]
    if run.isIrregular { return Element(place: place, offset: 0, id: run.id, slot: tree.slots[Int(run.text)].slot) }
    let offset = tree.elements(covering: index + 1 - start[unit], unit, of: run).count - 1
    return Element(place: place, offset: offset, id: run.id.advanced(by: offset), slot: tree.slot(of: run, offset))
  }

  /// The element that an operation inserted.
  func element(_ tree: TextTree, _ id: OpId) -> Element? {
    guard let found = tree.find(id) else { return nil }
    let run = tree[found.place]
    let slot = run.isIrregular ? tree.slots[Int(run.text)].slot : tree.slot(of: run, found.element)
    return Element(place: found.place, offset: found.element, id: id, slot: slot)
  }

  // MARK: Changing an element

  /// Replaces an element by a value. Makes no operation if the element has this value already.
  func put(_ object: ObjId, index: Int, unit: TextUnit, value: ScalarValue) throws(DocError) {
    let raw = try checked(value)
    let (id, tree) = try inView(sequence(object))
    let element = try element(tree, at: index, unit)
    let visible = element.slot.visible(at: view)
    if let winner = visible.last, winner.action == .set, raw.isSameValue(as: winner.value) {
      // The element has this value already; only what it is in conflict with must be removed.
      if visible.count > 1 {
        try change(tree, id, element, .delete, .null, predecessors: visible.dropLast().map(\.id))
      }
      return
    }
    try change(tree, id, element, .set, raw, predecessors: visible.map(\.id))
  }

  func putObject(_ object: ObjId, index: Int, unit: TextUnit, action: OpAction) throws(DocError) -> ObjId {
    let (id, tree) = try inView(sequence(object))
    let element = try element(tree, at: index, unit)
    let made = try change(tree, id, element, action, .null, predecessors: element.slot.visible(at: view).map(\.id))
    store.make(made, action)
    return objId(made)
  }

  func increment(_ object: ObjId, index: Int, unit: TextUnit, by amount: Int64) throws(DocError) {
    let (id, tree) = try inView(sequence(object))
    try increment(tree, id, try element(tree, at: index, unit), by: amount)
  }

  func increment(_ tree: TextTree, _ object: OpId, _ element: Element, by amount: Int64) throws(DocError) {
    let visible = element.slot.visible(at: view)
    guard visible.contains(where: \.isCounter) else { throw .notACounter }
    try change(tree, object, element, .increment, RawValue(.Int(amount)), predecessors: visible.map(\.id))
  }

  /// Deletes an element of a list; in a text, the element that covers the unit.
  func delete(_ object: ObjId, index: Int, unit: TextUnit) throws(DocError) {
    let (id, tree) = try inView(sequence(object))
    guard index < total(of: tree)[unit] else {
      // Deleting text past the end deletes nothing.
      if store.type(of: id) == .makeText { return }
      throw .outOfBounds(UInt64(index))
    }
    try delete(tree, id, at: index, count: 1, unit: unit)
  }

  @discardableResult
  func change(
    _ tree: TextTree, _ object: OpId, _ element: Element, _ action: OpAction, _ value: RawValue, predecessors: [OpId]
  ) throws(DocError) -> OpId {
    let id = try takeIds(1)
    let place = tree.makeIrregular(element.place, element: element.offset)
    tree.apply(StoredOp(id: id, action: action, value: value), predecessors: predecessors, to: place)
    log.append(
      OtherOp(
        object: object, key: .element(element.id), isInsert: false, action: action, value: value,
        predecessors: predecessors), id: id)
    return id
  }

  // MARK: Inserting

  /// Inserts values before what comes after `start` units, and then deletes up to `count` units after them.
  func splice(
    _ object: ObjId, at start: Int, unit: TextUnit, deleting count: Int, inserting values: [ScalarValue]
  ) throws(DocError) {
    var raw: [RawValue] = []
    for value in values { raw.append(try checked(value)) }
    let (id, tree) = try inView(sequence(object))
    guard start >= 0, start <= total(of: tree)[unit] else { throw .outOfBounds(UInt64(start.magnitude)) }
    var behind = start
    if !raw.isEmpty {
      var gap = self.gap(in: tree, before: start, unit)
      let before = visible(in: tree, before: gap)[unit], old = total(of: tree)[unit]
      for value in raw { gap = try insert(tree, id, at: gap, value) }
      behind = before + total(of: tree)[unit] - old
    }
    if count > 0 { try delete(tree, id, at: behind, count: count, unit: unit) }
  }

  /// A splice of text whose elements are grapheme clusters, as in documents that count in them.
  func spliceClusters(
    _ tree: TextTree, _ object: OpId, at start: Int, deleting count: Int, unit: TextUnit, inserting text: String
  ) throws(DocError) {
    guard start <= total(of: tree)[unit] else { throw .outOfBounds(UInt64(start)) }
    var gap = self.gap(in: tree, before: start, unit)
    let before = visible(in: tree, before: gap)[unit], old = total(of: tree)[unit]
    for character in text { gap = try insert(tree, object, at: gap, RawValue(.String(String(character)))) }
    let behind = text.isEmpty ? start : before + total(of: tree)[unit] - old
    if count > 0 { try delete(tree, object, at: behind, count: count, unit: unit) }
  }

  func insertObject(_ object: ObjId, at index: Int, unit: TextUnit, action: OpAction) throws(DocError) -> ObjId {
    let (id, tree) = try inView(sequence(object))
    guard index >= 0, index <= total(of: tree)[unit] else { throw .outOfBounds(UInt64(index.magnitude)) }
    let gap = self.gap(in: tree, before: index, unit)
    let made = try takeIds(1)
    insertIrregular(tree, id, at: gap, StoredOp(id: made, action: action, value: .null))
    store.make(made, action)
    return objId(made)
  }

  private func insert(
    _ tree: TextTree, _ object: OpId, at gap: TextTree.Gap, _ value: RawValue
  ) throws(DocError) -> TextTree.Gap {
    guard value.isOneScalar else {
      let id = try takeIds(1)
      return insertIrregular(tree, object, at: gap, StoredOp(id: id, action: .set, value: value))
    }
    guard bytes.hasRoom(for: value.bytes.count) else { throw .tooLarge }
    let id = try takeIds(1)
    let offset = bytes.append(value.bytes, actor: id.actor)
    let behind = tree.insertText(at: gap, id: id, text: offset..<offset + value.bytes.count, scalars: 1)
    log.append(
      .insertion(object: object, behind: gap.reference, count: 1, text: offset, byteCount: value.bytes.count), id: id)
    return behind
  }

  /// Inserts one element that is not a plain scalar; returns the gap after it.
  @discardableResult
  func insertIrregular(_ tree: TextTree, _ object: OpId, at gap: TextTree.Gap, _ op: StoredOp) -> TextTree.Gap {
    let behind = tree.insertIrregular(at: gap, op: op)
    log.append(
      OtherOp(
        object: object, key: .element(gap.reference), isInsert: true, action: op.action, value: op.value,
        expand: op.expand, markName: op.markName, predecessors: []), id: op.id)
    return behind
  }

  func checked(_ value: ScalarValue) throws(DocError) -> RawValue {
    guard value.isStorable else { throw .invalidValue }
    return RawValue(value)
  }
}

extension ObjType {
  var makeAction: OpAction {
    switch self {
    case .Map: .makeMap
    case .List: .makeList
    case .Text: .makeText
    }
  }
}

extension RawValue {
  /// Whether this is a string that a run of typed text can hold.
  var isOneScalar: Bool {
    guard code == Code.string, let lead = bytes.first else { return false }
    return UTF8Scalar.byteCount(lead: lead) == bytes.count
  }
}

extension TextTree {
  /// One element of a plain run, as a slot.
  func slot(of run: TextRun, _ element: Int) -> Slot {
    let start = run.isASCII ? run.textStart + element : bytes.advance(run.textStart, scalars: element)
    let end = start + UTF8Scalar.byteCount(lead: bytes.bytes[start])
    var op = StoredOp(
      id: run.id.advanced(by: element), action: .set, value: RawValue(text: bytes.bytes[start..<end]))
    if !run.deletion.isZero { op.successors = [run.deletion(of: element)] }
    return Slot(ops: [op])
  }
}
