/// Marking stretches of a text. Source: automerge-format, section 6.2.
extension DocumentCore {
  /// Sets a mark, or removes it if the value is null. Makes either all of its operations or none.
  func mark(
    _ object: ObjId, from start: Int, to end: Int, unit: TextUnit, expand: ExpandMark, name: String, value: ScalarValue
  ) throws(DocError) {
    let raw = try checked(value)
    let (id, tree) = try inView(text(object))
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
      // If both are in one element, the end would come before the beginning.
      if tree.isBehind(found, first) { gap = found }
    }
    insertIrregular(tree, id, at: gap, close)
  }
}

extension TextTree {
  /// Whether a gap is after an element that is not visible, as marks never are.
  fileprivate func isBehind(_ gap: Gap, _ element: OpId) -> Bool {
    guard let found = find(element) else { return false }
    let before = start(of: found.place)[.elements], there = visible(before: gap)[.elements]
    if there != before { return there > before }
    // Nothing visible lies between; the gap is after the element only if walking on from the element reaches it.
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
}
