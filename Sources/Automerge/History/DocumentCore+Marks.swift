/// Marking stretches of a text. Source: automerge-format, section 6.2.
extension DocumentCore {
  /// Sets a mark, or takes it away if the value is null. Either all of it happens or nothing.
  func mark(
    _ object: ObjId, from start: Int, to end: Int, unit: TextUnit, expand: ExpandMark, name: String, value: ScalarValue
  ) throws(DocError) {
    let raw = try checked(value)
    let (id, tree) = try text(object)
    guard start >= 0, start <= end, end <= total(of: tree)[unit] else { throw .outOfBounds(UInt64(end.magnitude)) }
    if start == end, expand == .none { return }
    let first = try takeIds(2)
    var begin = StoredOp(id: first, action: .mark, value: raw, expand: expand == .before || expand == .both)
    begin.markName = name
    let close = StoredOp(
      id: first.advanced(by: 1), action: .mark, value: .null, expand: expand == .after || expand == .both)
    let behindBegin = insertIrregular(tree, id, at: gap(in: tree, before: start, unit), begin)
    var gap = behindBegin
    if end > start {
      let found = self.gap(in: tree, before: end, unit)
      // If both are in one element, the end would come before the begin.
      if tree.isBehind(found, first) { gap = found }
    }
    insertIrregular(tree, id, at: gap, close)
  }
}

extension TextTree {
  /// How the mark with this name and value grows that was set last; nil if there is none.
  /// - Complexity: O(n) in the marks and other irregular elements.
  func expand(ofMark name: String, _ value: RawValue) -> ExpandMark? {
    var begin: StoredOp?
    for irregular in slots {
      guard let op = irregular.slot.ops.first, op.action == .mark, op.markName == name, op.value == value else {
        continue
      }
      if let found = begin, !actors.precedes(found.id, op.id) { continue }
      begin = op
    }
    guard let begin else { return nil }
    let end = slots.lazy.compactMap { $0.slot.ops.first }.first { $0.id == begin.id.advanced(by: 1) }
    switch (begin.expand, end?.expand ?? false) {
    case (true, true): return .both
    case (true, false): return .before
    case (false, true): return .after
    case (false, false): return ExpandMark.none
    }
  }

  /// Whether a gap is behind an element that is not visible, as marks never are.
  fileprivate func isBehind(_ gap: Gap, _ element: OpId) -> Bool {
    guard let found = find(element) else { return false }
    let before = start(of: found.place)[.elements], there = visible(before: gap)[.elements]
    if there != before { return there > before }
    // Nothing visible lies between; it is behind only if going on from the element leads to it.
    var at: Place? = found.place
    while let place = at {
      if place.leaf == gap.place.leaf, place.run == gap.place.run {
        return gap.element > 0 || place.run != found.place.run
      }
      if place.run != found.place.run || place.leaf != found.place.leaf, sums(of: self[place]).elements > 0 {
        return false
      }
      at = next(place)
    }
    return false
  }

  /// The marks of a text at some state, by name and then from left to right; the unit is what their places count in.
  /// - Complexity: O(n) in the runs.
  func marks(at clock: Clock, _ unit: TextUnit) -> [Mark] {
    struct Open {
      var start: Int
      var end: Int
      var value: RawValue
    }
    var active = ActiveMarks(), offset = 0
    var open: [MapKey: Open] = [:]
    var done: [(name: MapKey, mark: Open)] = []
    forEachStretch(at: clock) { stretch in
      if case .mark(let op) = stretch {
        active.pass(op, actors: actors)
        return true
      }
      let end = offset + sums(of: stretch)[unit]
      for (name, value) in active.values {
        if let last = open[name] {
          if last.end == offset, last.value == value {
            open[name]?.end = end
            continue
          }
          done.append((name, last))
        }
        open[name] = Open(start: offset, end: end, value: value)
      }
      offset = end
      return true
    }
    for (name, mark) in open { done.append((name, mark)) }
    done.sort { $0.name == $1.name ? $0.mark.start < $1.mark.start : $0.name < $1.name }
    return done.map { name, mark in
      Mark(start: UInt64(mark.start), end: UInt64(mark.end), name: name.string, value: mark.value.scalar)
    }
  }

  /// The marks of the visible element that covers the unit behind `index` units, by name; none behind the end.
  func marks(at clock: Clock, index: Int, _ unit: TextUnit) -> [(name: String, value: ScalarValue)] {
    var active = ActiveMarks(), offset = 0, isFound = false
    forEachStretch(at: clock) { stretch in
      if case .mark(let op) = stretch {
        active.pass(op, actors: actors)
        return true
      }
      offset += sums(of: stretch)[unit]
      isFound = offset > index
      return !isFound
    }
    guard isFound else { return [] }
    return active.values.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value.scalar) }
  }
}

/// The marks that hold at a place of a text, while one goes through it from left to right.
struct ActiveMarks {
  /// Marks that have begun and not ended, ascending.
  private var begun: [StoredOp] = []
  /// For each name what holds: the value of the greatest mark of that name, unless that is null.
  private(set) var values: [MapKey: RawValue] = [:]

  /// Takes account of the begin or the end of a mark.
  mutating func pass(_ op: StoredOp, actors: ActorTable) {
    if op.markName != nil {
      begun.insert(op, at: begun.firstIndex { actors.precedes(op.id, $0.id) } ?? begun.count)
    } else {
      let begin = OpId(counter: op.id.counter &- 1, actor: op.id.actor)
      guard let place = begun.firstIndex(where: { $0.id == begin }) else { return }
      begun.remove(at: place)
    }
    values = [:]
    for mark in begun { values[MapKey(mark.markName ?? "")] = mark.value }
    values = values.filter { $0.value.code != RawValue.Code.null }
  }
}
