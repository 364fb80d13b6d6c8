/// Walks through two states of a list or text side by side and writes the patches from one to the other.
struct SequenceWalk {
  let core: DocumentCore
  let tree: TextTree
  let isText: Bool
  /// The unit that patches of this object are counted in.
  let unit: TextUnit
  let before: Clock
  let after: Clock
  /// Whether insertions are separated by the elements that they restore.
  var isTellingOrigins = false
  /// Elements that are not restored.
  var gone: Set<OpId> = []
  private(set) var writer: PatchWriter
  /// Objects that have become visible.
  private(set) var exposed: [OpId] = []

  private var marksBefore: MarksInForce
  private var marksAfter: MarksInForce

  init(_ core: DocumentCore, _ tree: TextTree, _ object: OpId, unit: TextUnit, from before: Clock, to after: Clock) {
    (self.core, self.tree, self.unit, self.before, self.after) = (core, tree, unit, before, after)
    isText = core.store.type(of: object) == .makeText
    writer = PatchWriter(object: core.objId(object))
    marksBefore = MarksInForce(at: before, actors: core.actors)
    marksAfter = MarksInForce(at: after, actors: core.actors)
  }

  /// - Complexity: O(n) in the runs of the sequence.
  mutating func walk() -> [PatchAction] {
    var place = tree.first
    while let at = place {
      visit(tree[at])
      place = tree.next(at)
    }
    return writer.finish()
  }

  /// Walks through the runs at some places in document order. The new state must be the present one, and the text have
  /// no marks.
  mutating func walk(_ places: [TextTree.Place]) -> [PatchAction] {
    for place in places {
      writer.index = tree.start(of: place)[unit]
      visit(tree[place])
    }
    return writer.finish()
  }

  private mutating func visit(_ run: TextRun) {
    if run.isIrregular {
      let slot = tree.slots[Int(run.text)].slot
      if let first = slot.first, first.action == .mark { passMark(first) } else { visit(slot, of: run.id) }
      return
    }
    var element = 0, start = run.textStart
    while element < Int(run.count) {
      let then = tree.history(of: run, from: element, clock: before)
      let now = tree.history(of: run, from: element, clock: after)
      let count = min(then.count, now.count)
      let end = run.isASCII ? start + count : tree.bytes.advance(start, scalars: count)
      if then.visible || now.visible {
        let isWhole = count == Int(run.count)
        let length = isWhole ? length(of: run.measure, count) : length(ofText: start..<end, count, run)
        switch (then.visible, now.visible) {
        case (true, true): writer.keep(length, isMarked: true)
        case (true, false): writer.delete(length)
        case (false, _) where !gone.isEmpty: insertWhatIsNotGone(start..<end, from: run.id.advanced(by: element), count)
        case (false, _): insert(tree.bytes.bytes[start..<end], length, from: run.id.advanced(by: element), count)
        }
      }
      element += count
      start = end
    }
  }

  private func length(of measure: TextMeasure, _ count: Int) -> Int { TextSums(measure, elements: count)[unit] }

  private func length(ofText range: Range<Int>, _ count: Int, _ run: TextRun) -> Int {
    if unit == .elements || unit == .scalars || unit == .graphemes || run.isASCII { return count }
    return length(of: tree.bytes.measure(range), count)
  }

  private mutating func insert(_ utf8: ArraySlice<UInt8>, _ length: Int, from first: OpId, _ count: Int) {
    let origin =
      isTellingOrigins ? PatchWriter.Origin(last: first.advanced(by: count - 1), count: count) : nil
    if isText { return writer.insertText(utf8, length: length, marks: marksAfter.values, bringingBack: origin) }
    for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
      writer.insert(.Scalar(.String(String(scalar))), length: 1)
    }
    if let origin { writer.endInsertion(with: origin) }
  }

  private mutating func insertWhatIsNotGone(_ text: Range<Int>, from first: OpId, _ count: Int) {
    var start = text.lowerBound, element = 0
    while element < count {
      let isGone = gone.contains(first.advanced(by: element)), from = element, begin = start
      while element < count, gone.contains(first.advanced(by: element)) == isGone {
        start = tree.bytes.advance(start, scalars: 1)
        element += 1
      }
      if isGone { continue }
      let measure = tree.bytes.measure(begin..<start)
      insert(
        tree.bytes.bytes[begin..<start], length(of: measure, element - from), from: first.advanced(by: from),
        element - from)
    }
  }

  private mutating func passMark(_ op: StoredOp) {
    guard isText else { return }
    let changed = marksBefore.pass(op)?.name, changes = marksAfter.pass(op)?.name
    guard let name = changed ?? changes else { return }
    let now = marksAfter.values[name]
    writer.setMark(name, now == marksBefore.values[name] ? nil : now ?? .null)
  }

  // MARK: Single elements

  private func length(of shown: ShownValue) -> Int {
    isText ? TextSums(ofElement: shown.op.textUTF8)[unit] : 1
  }

  private mutating func visit(_ slot: Slot, of element: OpId) {
    switch SlotDifference(slot, before, after, core.actors) {
    case .nothing: break
    case .came(let now): if !gone.contains(element) { come(now, element) }
    case .went(let then): writer.delete(length(of: then))
    case .replaced(let then, by: let now):
      if isText, then.op.id == now.op.id, now.isString {
        keep(now)
      } else if isText, then.op.id != now.op.id {
        writer.delete(length(of: then))
        come(now, element)
      } else {
        writer.add(.Put(writer.object, writer.prop, value(of: now)))
        keep(now)
      }
    case .stayed(let now, let becameConflict, let growth):
      if becameConflict { writer.add(.Conflict(writer.object, writer.prop)) }
      if growth != 0 { writer.add(.Increment(writer.object, writer.prop, growth)) }
      keep(now)
    }
  }

  /// Marks apply to characters, not to other values between them.
  private mutating func keep(_ shown: ShownValue) {
    writer.keep(length(of: shown), isMarked: shown.isString)
  }

  private mutating func come(_ now: ShownValue, _ element: OpId) {
    if isText, now.isString {
      writer.insertText(now.op.value.bytes, length: length(of: now), marks: marksAfter.values)
    } else {
      writer.insert(value(of: now), length: length(of: now))
    }
    if isTellingOrigins { writer.endInsertion(with: .init(last: element, count: 1)) }
  }

  private mutating func value(of shown: ShownValue) -> Value {
    if shown.op.action.makesObject { exposed.append(shown.op.id) }
    return core.value(of: shown)
  }
}

extension DocumentCore {
  func value(of shown: ShownValue) -> Value {
    shown.op.action.makesObject
      ? .Object(objId(shown.op.id), objectType(shown.op.id)) : .Scalar(shown.scalar)
  }
}
