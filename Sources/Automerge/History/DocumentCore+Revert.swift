/// Changing the document to what it would be without some changes, by ordinary operations.
extension DocumentCore {
  /// Reverts changes of one actor, given by their rows, ascending. Adds operations to the pending transaction. Returns
  /// what they restore.
  ///
  /// - Parameter keepsLinesApart: whether text whose line others have deleted returns as a line, or not at all if it had been
  ///   replaced there, instead of in the line beside
  @discardableResult
  func revert(rows: [Int], keepsLinesApart: Bool = false) throws(DocError) -> RestoredCopies {
    let records = rows.map { graph.records[$0] }.filter { $0.opCount > 0 }
    return try revert(
      records.map { $0.startOp...$0.maxOp }, of: records.first?.actor ?? 0, rows: rows, keepsLinesApart: keepsLinesApart
    )
  }

  /// Like `revert(rows:)`, for only some of the rows' operations, given by ascending ranges of their counters.
  @discardableResult
  func revert(
    _ counters: [ClosedRange<UInt32>], of actor: UInt32, rows: [Int], keepsLinesApart: Bool = false
  ) throws(DocError) -> RestoredCopies {
    var difference = DocumentDifference(
      self, without: counters, of: actor, rows: rows, history: lookups.undoHistory)
    var edit = PatchedEdit(
      self, after: Clock.now.without(counters, of: actor),
      keepingLinesApartSince: keepsLinesApart ? counters.first?.lowerBound : nil)
    let steps = difference.steps()
    var start = 0
    while start < steps.count {
      let end = edit.endOfText(steps, from: start)
      try edit.apply(steps[start..<end])
      start = end
    }
    return edit.copies
  }

  /// The last operation of the pending transaction.
  fileprivate var lastPendingId: OpId? {
    guard let transaction, transaction.opCount > 0 else { return nil }
    return OpId(counter: transaction.startOp + transaction.opCount - 1, actor: transaction.author)
  }
}

/// Applies patches to the present document, as local edits. Texts are counted in Unicode scalars.
private struct PatchedEdit {
  let core: DocumentCore
  /// The state that the patches lead to.
  let after: Clock
  /// The counter of the first operation that is reverted; nil unless lines are kept apart.
  let apartSince: UInt32?
  /// Objects that the patches make, with the new objects that represent them.
  private var made: [ObjId: ObjId] = [:]
  private(set) var copies = RestoredCopies()
  /// The pieces among them.
  private var pieces = RestoredPieces()
  private var marks = MarkWalk()
  private var growth: MarkGrowth?
  /// The element after which the next piece of a text is inserted; nil if the piece has a place of its own.
  private var behind: OpId?
  /// How much longer each text is here than the patches expect, because lines are kept apart.
  private var surplus: [ObjId: Int] = [:]

  init(_ core: DocumentCore, after: Clock, keepingLinesApartSince counter: UInt32?) {
    (self.core, self.after, apartSince) = (core, after, counter)
  }

  typealias Step = (action: PatchAction, origin: PatchWriter.Origin?)

  /// The end of the steps that restore one piece of text: each what followed the one before it, though other elements.
  func endOfText(_ steps: [Step], from start: Int) -> Int {
    var end = start
    while end < steps.count, steps[end].origin != nil,
      case .SpliceText(let text, let index, let value, _) = steps[end].action
    {
      let next = index + UInt64(value.unicodeScalars.count)
      end += 1
      guard end < steps.count, case .SpliceText(text, next, _, _) = steps[end].action else { break }
    }
    return max(end, start + 1)
  }

  /// Applies steps that restore one piece of text, or a single other one.
  ///
  /// The piece is inserted where the last of its elements was, as one. Otherwise what another person has typed after a line, of
  /// which this document does not know yet, could stand before the line end that the line gets back. Marks begin and end
  /// between elements, so text with marks is inserted where each of its elements was.
  mutating func apply(_ steps: ArraySlice<Step>) throws(DocError) {
    let fate = try fateOfLine(of: steps)
    guard fate != .there || steps.count > 1, let last = steps.last, case .SpliceText(let text, _, _, _) = last.action,
      case let (id, tree) = try core.text(own(text)), !tree.hasMarks, let place = place(of: last.origin, in: tree)
    else {
      for step in steps { try apply(step.action, origin: step.origin) }
      return
    }
    behind = place
    defer { behind = nil }
    func lineFeed(behind element: OpId?) throws(DocError) {
      guard let element else { return }
      behind = try insertText(tree, id, [0x0A], behind: element)
      surplus[text, default: 0] += 1
    }
    switch fate {
    case .goneWithReplacement:
      for case .SpliceText(_, _, let value, _) in steps.map(\.action) {
        surplus[text, default: 0] -= value.unicodeScalars.count
      }
      return
    case .goneBehindText: try lineFeed(behind: behind)
    case .goneBeforeText, .there: break
    }
    for step in steps { try apply(step.action, origin: step.origin) }
    if fate == .goneBeforeText { try lineFeed(behind: behind) }
  }

  /// What has become of the line of one piece of text.
  private func fateOfLine(of steps: ArraySlice<Step>) throws(DocError) -> RestoredLine.Fate {
    guard apartSince != nil, let first = steps.first?.origin?.first, let last = steps.last?.origin?.last,
      case .SpliceText(let text, _, _, _)? = steps.first?.action
    else { return .there }
    let tree = try core.text(own(text)).tree
    for case .SpliceText(_, _, let value, _) in steps.map(\.action) where value.utf8.contains(0x0A) { return .there }
    return tree.hasMarks ? .there : RestoredLine(pieces: places(in: tree)).fate(ofPieceFrom: first, to: last)
  }

  /// `origin` is what an insertion restores. It is inserted where those elements were, and not just anywhere between the
  /// same visible neighbours.
  mutating func apply(_ action: PatchAction, origin: PatchWriter.Origin?) throws(DocError) {
    switch action {
    case .Put(let object, .Key(let key), let value): try put(own(object), key, value)
    case .Put(let object, .Index(let index), let value): try put(own(object), Int(index), value)
    case .Insert(let object, let index, let values):
      var index = Int(index), behind = try place(of: origin, in: core.sequence(own(object)).tree)
      for value in values {
        behind = try insert(own(object), index, value, behind: behind)
        index += 1
      }
      if let behind, let origin { try restored(origin, in: core.sequence(own(object)).id, last: behind) }
    case .SpliceText(let object, let index, let value, let marks):
      if value.isEmpty { break }
      let index = Int(index) + surplus[object, default: 0]
      try insertText(own(object), index, value, origin)
      try mark(own(object), index, value.unicodeScalars.count, as: marks)
    case .Increment(let object, .Key(let key), let amount): try core.increment(own(object), key: key, by: amount)
    case .Increment(let object, .Index(let index), let amount):
      let unit = try unit(of: own(object))
      try core.increment(own(object), index: Int(index), unit: unit, by: amount)
    case .DeleteMap(let object, let key): try core.delete(own(object), key: key)
    case .DeleteSeq(let deletion):
      let start = Int(deletion.index) + surplus[deletion.obj, default: 0]
      try delete(start..<start + Int(deletion.length), in: deletion.obj)
    case .Marks(let object, let marks):
      for each in marks {
        try mark(own(object), from: Int(each.start), to: Int(each.end), each.name, each.value)
      }
    case .Conflict: break
    }
  }

  /// Deletes what the reverted changes inserted, except for a line end if other words would change their line without it.
  private mutating func delete(_ range: Range<Int>, in object: ObjId) throws(DocError) {
    let (id, tree) = try core.sequence(own(object)), unit = try unit(of: own(object))
    guard let apartSince, unit == .scalars, let kept = lineEnd(toKeepIn: range, of: tree, since: apartSince) else {
      return try core.delete(tree, id, at: range.lowerBound, count: range.count, unit: unit)
    }
    try core.delete(tree, id, at: kept + 1, count: range.upperBound - kept - 1, unit: unit)
    try core.delete(tree, id, at: range.lowerBound, count: kept - range.lowerBound, unit: unit)
    surplus[object, default: 0] += 1
  }

  /// The place of a line end that must stay when the visible text in `range` is deleted: without it, the words before and behind
  /// would be in one line, though some of them were inserted later than the operation `counter`. Nil if there is none. Places are
  /// counted in scalars.
  ///
  /// - Complexity: O(k + log n) for k bytes of the range
  private func lineEnd(toKeepIn range: Range<Int>, of tree: TextTree, since counter: UInt32) -> Int? {
    guard range.lowerBound > 0, range.upperBound < tree.total[.scalars] else { return nil }
    let start = tree.measure(before: range.lowerBound, .scalars).utf8
    let text = tree.utf8(start - 1..<tree.measure(before: range.upperBound, .scalars).utf8 + 1)
    guard text.first != 0x0A, text.last != 0x0A, let lineEnd = text.lastIndex(of: 0x0A) else { return nil }
    let before = tree.operation(at: range.lowerBound - 1, .scalars)
    let behind = tree.operation(at: range.upperBound, .scalars)
    guard isLater(before, than: counter) || isLater(behind, than: counter) else { return nil }
    return range.lowerBound + text[1..<lineEnd].count { $0 & 0xC0 != 0x80 }
  }

  /// Whether an element that stays was inserted after an operation; one that the pending operations restore is older than these.
  private func isLater(_ element: OpId, than counter: UInt32) -> Bool {
    guard element.counter > counter, after.covers(element) else { return false }
    guard let transaction = core.transaction, element.actor == transaction.author else { return true }
    return element.counter < transaction.startOp
  }

  private func own(_ object: ObjId) -> ObjId { made[object] ?? object }

  private func unit(of object: ObjId) throws(DocError) -> TextUnit {
    try core.store.type(of: core.sequence(object).id) == .makeText ? .scalars : .elements
  }

  private func action(_ object: ObjId, _ type: ObjType) -> OpAction {
    core.opId(object).flatMap { core.store.type(of: $0) } ?? type.makeAction
  }

  /// Text is restored in the elements that it was in: of one scalar each, or one element of several scalars.
  private mutating func insertText(
    _ object: ObjId, _ index: Int, _ value: String, _ origin: PatchWriter.Origin?
  ) throws(DocError) {
    let (id, tree) = try core.text(object)
    let utf8 = Array(value.utf8)[...], raw = RawValue(.String(value))
    let isOneElement = origin?.count == 1 && !raw.isOneScalar
    if let origin, let place = behind ?? place(of: origin, in: tree) {
      let last =
        isOneElement
        ? try insertIrregular(tree, id, .set, raw, behind: place)
        : try insertText(tree, id, utf8, behind: place)
      restored(origin, in: id, last: last)
      if behind != nil { behind = last }
    } else if isOneElement {
      try core.splice(object, at: index, unit: .scalars, deleting: 0, inserting: [.String(value)])
    } else {
      try core.splice(tree, id, at: index, deleting: 0, unit: .scalars, inserting: utf8)
    }
  }

  /// The element after which to insert what existed before.
  private func place(of origin: PatchWriter.Origin?, in tree: TextTree) -> OpId? {
    origin.flatMap { places(in: tree).element(for: $0) }
  }

  private func places(in tree: TextTree) -> RestoredPlace {
    RestoredPlace(tree: tree, before: core.lookups.undoHistory.pieces, now: pieces, after: after)
  }

  /// Records which elements the last ones were copied from.
  private mutating func restored(_ origin: PatchWriter.Origin, in object: OpId, last: OpId) {
    let piece = RestoredCopies.Elements(
      object: object, original: origin.first, copy: last.advanced(by: 1 - origin.count), count: origin.count)
    copies.add(piece)
    pieces.add(piece)
  }

  /// Records which new object represents an old one.
  private mutating func restored(_ old: ObjId, as new: ObjId) {
    made[old] = new
    if let id = core.opId(new) { copies.add(object: id) }
  }

  private mutating func put(_ object: ObjId, _ key: String, _ value: Value) throws(DocError) {
    let last = core.lastPendingId, id = try core.map(object).id
    defer {
      if let copy = core.lastPendingId, copy != last {
        copies.add(RestoredCopies.Entry(object: id, key: MapKey(key), copy: copy))
      }
    }
    switch value {
    case .Object(let old, let type): restored(old, as: try core.putObject(object, key: key, action: action(old, type)))
    case .Scalar(let scalar):
      // Counters with the same start count as the same value.
      if case .Counter = scalar { try core.delete(object, key: key) }
      try core.put(object, key: key, value: scalar)
    }
  }

  private mutating func put(_ object: ObjId, _ index: Int, _ value: Value) throws(DocError) {
    let unit = try unit(of: object)
    switch value {
    case .Object(let old, let type):
      restored(old, as: try core.putObject(object, index: index, unit: unit, action: action(old, type)))
    case .Scalar(let scalar):
      if case .Counter = scalar { try core.put(object, index: index, unit: unit, value: .Null) }
      try core.put(object, index: index, unit: unit, value: scalar)
    }
  }

  /// Returns the inserted element, if it was inserted after another one.
  private mutating func insert(
    _ object: ObjId, _ index: Int, _ value: Value, behind origin: OpId?
  ) throws(DocError) -> OpId? {
    let (id, tree) = try core.sequence(object)
    let unit = try unit(of: object)
    guard let origin, tree.find(origin) != nil else {
      switch value {
      case .Object(let old, let type):
        restored(old, as: try core.insertObject(object, at: index, unit: unit, action: action(old, type)))
      case .Scalar(let scalar):
        try core.splice(object, at: index, unit: unit, deleting: 0, inserting: [scalar])
      }
      return nil
    }
    switch value {
    case .Object(let old, let type):
      let action = action(old, type), element = try insertIrregular(tree, id, action, .null, behind: origin)
      core.store.make(element, action)
      restored(old, as: core.objId(element))
      return element
    case .Scalar(let scalar):
      let raw = try core.checked(scalar)
      if raw.isOneScalar { return try insertText(tree, id, raw.bytes[...], behind: origin) }
      return try insertIrregular(tree, id, .set, raw, behind: origin)
    }
  }

  /// Gives inserted text the marks that it should have, where it did not get them from the text around it.
  private mutating func mark(
    _ object: ObjId, _ start: Int, _ count: Int, as wanted: [String: Value]
  ) throws(DocError) {
    let tree = try core.text(object).tree
    guard tree.hasMarks || !wanted.isEmpty, count > 0 else { return }
    let present = marks.values(at: start, of: tree)
    var missing: [String: ScalarValue] = [:]
    for (name, value) in wanted {
      if case .Scalar(let scalar) = value, present[name] != scalar { missing[name] = scalar }
    }
    for name in present.keys where wanted[name] == nil { missing[name] = .Null }
    for (name, value) in missing.sorted(by: { $0.key < $1.key }) {
      try mark(object, from: start, to: start + count, name, value)
    }
  }

  /// Makes a mark again, which grows as the last mark like it did.
  private mutating func mark(
    _ object: ObjId, from start: Int, to end: Int, _ name: String, _ value: ScalarValue
  ) throws(DocError) {
    let tree = try core.text(object).tree, raw = try core.checked(value)
    let known = growth.flatMap { $0.tree === tree ? $0 : nil } ?? MarkGrowth(of: tree)
    growth = known
    let last = core.lastPendingId
    try core.mark(
      object, from: start, to: end, unit: .scalars, expand: known.expand(name, raw), name: name, value: value)
    if let end = core.lastPendingId, end != last { marks.didMark(tree, from: start, begin: end.advanced(by: -1)) }
  }

  /// Inserts valid UTF-8, at least one scalar, directly after an element; returns the last element inserted.
  private func insertText(
    _ tree: TextTree, _ object: OpId, _ utf8: ArraySlice<UInt8>, behind element: OpId
  ) throws(DocError) -> OpId {
    guard core.bytes.hasRoom(for: utf8.count) else { throw .tooLarge }
    let count = utf8.withUnsafeBufferPointer { TextMeasure(of: $0) }.scalars
    let id = try core.takeIds(count)
    guard let gap = tree.gap(behind: element, inserting: id) else { preconditionFailure("the element was found") }
    let offset = core.bytes.append(utf8, actor: id.actor)
    tree.insertText(at: gap, id: id, text: offset..<offset + utf8.count, scalars: count)
    core.log.append(
      .insertion(object: object, behind: element, count: count, text: offset, byteCount: utf8.count), id: id)
    return id.advanced(by: count - 1)
  }

  /// Inserts one element that is not a plain scalar directly after another one.
  private func insertIrregular(
    _ tree: TextTree, _ object: OpId, _ action: OpAction, _ value: RawValue, behind element: OpId
  ) throws(DocError) -> OpId {
    let id = try core.takeIds(1)
    guard var gap = tree.gap(behind: element, inserting: id) else { preconditionFailure("the element was found") }
    gap.reference = element
    core.insertIrregular(tree, object, at: gap, StoredOp(id: id, action: action, value: value))
    return id
  }
}
