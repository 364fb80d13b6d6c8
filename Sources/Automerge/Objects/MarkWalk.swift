/// Reads the marks in force at places of texts, from front to back, while marks are made there.
///
/// The last place is remembered. Marks are made only there and behind it, so the next one is found by walking on.
struct MarkWalk {
  private var tree: TextTree?
  /// The visible element at the last place. All marks before it are passed.
  private var element: OpId?
  private var inForce = MarksInForce(at: .now, actors: ActorTable())
  /// The values in force; nil if they are to be collected again.
  private var values: [String: ScalarValue]?

  /// The marks of the visible element that covers the scalar after `index` scalars, by name; none past the end.
  /// - Complexity: O(log n) in the runs of the text, and O(n) in those since the last place
  mutating func values(at index: Int, of tree: TextTree) -> [String: ScalarValue] {
    guard index < tree.total[.scalars] else { return [:] }
    let (place, start) = tree.locate(index + 1, .scalars), run = tree[place]
    var at = lastPlace(in: tree, upTo: index)
    if at == nil {
      (self.tree, inForce, values) = (tree, MarksInForce(at: .now, actors: tree.actors), nil)
      at = tree.first
    }
    while let each = at, each.leaf != place.leaf || each.run != place.run {
      if let op = tree.mark(at: each) { pass(op) }
      at = tree.next(each)
    }
    element = run.isIrregular ? run.id : run.id.advanced(by: index - start[.scalars])
    let now = values ?? collect()
    values = now
    return now
  }

  /// Takes note of a mark that was made, from `start` on, by the operation `begin`.
  mutating func didMark(_ tree: TextTree, from start: Int, begin: OpId) {
    guard tree === self.tree, let position = position(in: tree) else { return }
    if start > position { return }
    if start == position, let op = tree.find(begin).flatMap({ tree.mark(at: $0.place) }) { return pass(op) }
    element = nil
  }

  private mutating func pass(_ op: StoredOp) { if inForce.pass(op) != nil { values = nil } }

  private func lastPlace(in tree: TextTree, upTo index: Int) -> TextTree.Place? {
    guard tree === self.tree, let element, let position = position(in: tree), position <= index else { return nil }
    return tree.find(element)?.place
  }

  /// How many scalars come before the last place; nil if it is no longer known.
  private func position(in tree: TextTree) -> Int? {
    guard let element, let (place, offset) = tree.find(element), tree.isVisible(place, offset, at: .now) else {
      return nil
    }
    return tree.start(of: place)[.scalars] + offset
  }

  private func collect() -> [String: ScalarValue] {
    var named: [String: ScalarValue] = [:]
    for (name, value) in inForce.values { named[name.string] = value.scalar }
    // Strings that differ only in how a letter is composed are equal; then the last name in the order of bytes counts.
    if named.count < inForce.values.count {
      for (name, value) in inForce.values.sorted(by: { $0.key < $1.key }) { named[name.string] = value.scalar }
    }
    return named
  }
}

extension TextTree {
  /// The beginning or end of a mark at a place; nil if something else is there.
  fileprivate func mark(at place: Place) -> StoredOp? {
    let run = self[place]
    guard run.isIrregular, let op = slots[Int(run.text)].slot.first, op.action == .mark else { return nil }
    return op
  }
}
