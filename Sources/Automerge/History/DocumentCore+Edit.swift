/// Local edits. They make exactly the operations that the reference core makes, so the same edits give the same hashes.
/// Source: automerge-format, section 6.1.
extension DocumentCore {
  func map(_ object: ObjId) throws(DocError) -> (id: OpId, map: MapObject) {
    guard let id = opId(object) else { throw .unknownObject(object) }
    guard let map = store.map(id) else { throw .wrongType(object, objectType(id)) }
    return (id, map)
  }

  func text(_ object: ObjId) throws(DocError) -> (id: OpId, tree: TextTree) {
    if let last = lastText, last.object == object { return (last.id, last.tree) }
    guard let id = opId(object) else { throw .unknownObject(object) }
    guard store.type(of: id) == .makeText, let tree = store.sequence(id) else {
      throw .wrongType(object, objectType(id))
    }
    lastText = (object, id, tree)
    return (id, tree)
  }

  func objectType(_ id: OpId) -> ObjType {
    switch store.type(of: id) {
    case .makeText: .Text
    case .makeList: .List
    case .makeMap, .makeTable, .set, .delete, .increment, .mark, nil: .Map
    }
  }

  // MARK: Maps

  func put(_ object: ObjId, key: String, value: ScalarValue) throws(DocError) {
    let raw = try checked(value)
    let (id, map) = try inView(map(object))
    let key = MapKey(key)
    let visible = map[key].visible(at: view)
    if let winner = visible.last, winner.action == .set, raw.isSameValue(as: winner.value) {
      // The key has this value already; only what it is in conflict with must be removed.
      if visible.count > 1 {
        try change(map, id, key, .delete, .null, predecessors: visible.dropLast().map(\.id))
      }
      return
    }
    try change(map, id, key, .set, raw, predecessors: visible.map(\.id))
  }

  func putObject(_ object: ObjId, key: String, action: OpAction) throws(DocError) -> ObjId {
    let (id, map) = try inView(map(object))
    let key = MapKey(key)
    let made = try change(map, id, key, action, .null, predecessors: map[key].visible(at: view).map(\.id))
    store.make(made, action)
    return objId(made)
  }

  func delete(_ object: ObjId, key: String) throws(DocError) {
    let (id, map) = try inView(map(object))
    let key = MapKey(key)
    let visible = map[key].visible(at: view)
    if visible.isEmpty { return }
    try change(map, id, key, .delete, .null, predecessors: visible.map(\.id))
  }

  func increment(_ object: ObjId, key: String, by amount: Int64) throws(DocError) {
    let (id, map) = try inView(map(object))
    let key = MapKey(key), visible = map[key].visible(at: view)
    guard visible.contains(where: \.isCounter) else { throw .notACounter }
    try change(map, id, key, .increment, RawValue(.Int(amount)), predecessors: visible.map(\.id))
  }

  @discardableResult
  private func change(
    _ map: MapObject, _ object: OpId, _ key: MapKey, _ action: OpAction, _ value: RawValue, predecessors: [OpId]
  ) throws(DocError) -> OpId {
    let id = try takeIds(1)
    map.apply(
      StoredOp(id: id, action: action, value: value), key: key, predecessors: predecessors, actors: actors)
    log.append(
      OtherOp(
        object: object, key: .map(key), isInsert: false, action: action, value: value, predecessors: predecessors),
      id: id)
    return id
  }

  // MARK: Text

  /// Inserts valid UTF-8 at a position and then deletes up to `count` units after it.
  func splice(
    _ tree: TextTree, _ object: OpId, at start: Int, deleting count: Int, unit: TextUnit,
    inserting utf8: ArraySlice<UInt8>
  ) throws(DocError) {
    try utf8.withUnsafeBufferPointer { (utf8) throws(DocError) in
      try splice(tree, object, at: start, deleting: count, unit: unit, inserting: utf8)
    }
  }

  func splice(
    _ tree: TextTree, _ object: OpId, at start: Int, deleting count: Int, unit: TextUnit,
    inserting utf8: UnsafeBufferPointer<UInt8>
  ) throws(DocError) {
    if isolation != nil {
      return try PastSplice(core: self, tree: tree, object: object, unit: unit)
        .run(at: start, deleting: count, inserting: utf8)
    }
    guard start <= tree.total[unit] else { throw .outOfBounds(UInt64(start)) }
    var start = start
    if !utf8.isEmpty {
      guard bytes.hasRoom(for: utf8.count) else { throw .tooLarge }
      let measure = TextMeasure(of: utf8)
      let id = try takeIds(measure.scalars)
      let offset = bytes.append(utf8, actor: id.actor)
      if let last = tree.extendHintedRun(before: start, unit, id: id, text: offset, measure: measure) {
        log.append(
          .insertion(object: object, behind: last, count: measure.scalars, text: offset, byteCount: utf8.count), id: id)
        if count > 0 {
          start += TextSums(measure, elements: measure.scalars)[unit]
          try delete(tree, object, at: start, count: count, unit: unit)
        }
        return
      }
      let gap = tree.gap(before: start, unit)
      let before = count > 0 ? tree.visible(before: gap)[unit] : 0
      tree.insertText(at: gap, id: id, text: offset..<offset + utf8.count, scalars: measure.scalars)
      log.append(
        .insertion(
          object: object, behind: gap.reference, count: measure.scalars, text: offset, byteCount: utf8.count), id: id)
      start = before + TextSums(measure, elements: measure.scalars)[unit]
    }
    if count > 0 { try delete(tree, object, at: start, count: count, unit: unit) }
  }

  func delete(_ tree: TextTree, _ object: OpId, at start: Int, count: Int, unit: TextUnit) throws(DocError) {
    if isolation != nil {
      return try PastSplice(core: self, tree: tree, object: object, unit: unit).delete(at: start, count: count)
    }
    if count == 1, let next = nextId, let element = tree.shrinkHintedRun(before: start + 1, unit, by: next) {
      let id = try takeIds(1)
      log.append(.deletion(object: object, from: element, count: 1, step: 1), id: id)
      return
    }
    var at = start, left = count
    while left > 0, at < tree.total[unit] {
      let (place, before) = tree.locate(at + 1, unit)
      let run = tree[place]
      let inside = at - before[unit]
      if run.isIrregular {
        let width = tree.sums(of: run)[unit]
        if inside > 0 {
          at = before[unit] + width
          continue
        }
        try deleteIrregular(tree, object, place)
        left -= width
        continue
      }
      let (from, isExact) = tree.elements(covering: inside, unit, of: run)
      if !isExact {
        // Inside an element of several units, which stays.
        at = before[unit] + TextSums(tree.measure(ofFirst: from, of: run), elements: from)[unit]
        continue
      }
      let width = TextSums(run.measure, elements: Int(run.count))[unit]
      let reach = inside + min(left, width - inside)
      let (to, _) = tree.elements(covering: reach, unit, of: run)
      let units = TextSums(tree.measure(ofFirst: to, of: run), elements: to)[unit] - inside
      let id = try takeIds(to - from)
      tree.markDeleted(place, element: from, count: to - from, by: id, step: 1)
      log.append(.deletion(object: object, from: run.id.advanced(by: from), count: to - from, step: 1), id: id)
      left -= units
    }
  }

  private func deleteIrregular(_ tree: TextTree, _ object: OpId, _ place: TextTree.Place) throws(DocError) {
    let run = tree[place]
    let visible = tree.slots[Int(run.text)].slot.visible().map(\.id)
    let id = try takeIds(1)
    tree.apply(StoredOp(id: id, action: .delete, value: .null), predecessors: visible, to: place)
    if visible == [run.id] {
      log.append(.deletion(object: object, from: run.id, count: 1, step: 1), id: id)
    } else {
      log.append(
        OtherOp(
          object: object, key: .element(run.id), isInsert: false, action: .delete, value: .null, predecessors: visible),
        id: id)
    }
  }

  /// An editor's splice: UTF-8 offsets, which may be inside an element that one operation inserted as a whole. Such an
  /// element is replaced, so that the text becomes what the editor shows.
  func splice(
    _ tree: TextTree, _ object: OpId, utf8Offset: Int, deleting count: Int, inserting: [UInt8],
    asClusters: Bool = false
  ) throws(DocError) {
    var start = utf8Offset, end = utf8Offset + count
    let (from, to): (Int, Int), head: [UInt8], tail: [UInt8]
    if isolation == nil {
      start = tree.measure(before: utf8Offset, .utf8).utf8
      end = max(start, tree.measure(before: utf8Offset + count, .utf8).utf8)
      let first = tree.elementStart(of: start)
      let last = tree.elementEnd(of: end, isStart: end == start && first.head.isEmpty)
      ((from, to), head, tail) = ((first.start, last.end), first.head, last.tail)
    } else {
      let wide = tree.widened(start..<end, at: view)
      ((from, to), head, tail) = ((wide.range.lowerBound, wide.range.upperBound), wide.head, wide.tail)
    }
    if asClusters {
      let text = String(decoding: head + inserting + tail, as: UTF8.self)
      try spliceClusters(tree, object, at: from, deleting: to - from, unit: .utf8, inserting: text)
    } else if head.isEmpty, tail.isEmpty {
      try splice(tree, object, at: start, deleting: end - start, unit: .utf8, inserting: inserting[...])
    } else {
      try splice(tree, object, at: from, deleting: to - from, unit: .utf8, inserting: (head + inserting + tail)[...])
    }
  }
}

extension RawValue {
  /// Whether replacing the other value by this one would change nothing. Not-a-number is never the same; 0.0 and -0.0
  /// are.
  func isSameValue(as other: RawValue) -> Bool {
    if case .F64(let left) = scalar, case .F64(let right) = other.scalar { return left == right }
    return self == other
  }
}

extension TextTree {
  /// What is visible before a gap.
  func visible(before gap: Gap) -> TextSums {
    guard leaves[Int(gap.place.leaf)].count > 0 else { return .zero }
    let start = start(of: gap.place), run = self[gap.place]
    if run.isIrregular || !run.isVisible { return gap.element == 0 ? start : start + sums(of: run) }
    return start + TextSums(measure(ofFirst: gap.element, of: run), elements: gap.element)
  }

  /// Where the element that contains a UTF-8 offset begins, and its part before the offset.
  func elementStart(of offset: Int) -> (start: Int, head: [UInt8]) {
    if offset == 0 { return (0, []) }
    let (place, start) = locate(offset, .utf8)
    let run = self[place], inside = offset - start[.utf8]
    guard run.isIrregular, inside < sums(of: run)[.utf8] else { return (offset, []) }
    return (start[.utf8], Array(slots[Int(run.text)].shown.prefix(inside)))
  }

  /// Where the element that contains a UTF-8 offset ends, and its part after the offset.
  func elementEnd(of offset: Int, isStart: Bool) -> (end: Int, tail: [UInt8]) {
    if offset == 0 || isStart { return (offset, []) }
    let (place, start) = locate(offset, .utf8)
    let run = self[place], inside = offset - start[.utf8], width = sums(of: run)[.utf8]
    guard run.isIrregular, inside < width else { return (offset, []) }
    return (start[.utf8] + width, Array(slots[Int(run.text)].shown.dropFirst(inside)))
  }
}
