/// Building a tree from runs that come in document order.
extension TextTree {
  /// Adds a run behind all others, joined with the last one if it continues that.
  func appendRun(_ run: TextRun) {
    let last = lastPlace
    if let last, self[last].canMerge(run) {
      self[last].merge(run)
      index.assign(run.id, count: Int(run.count), leaf: last.leaf)
      add(sums(of: run), to: last.leaf)
      return
    }
    let gap = Gap(
      place: last ?? Place(leaf: firstLeaf, run: 0), element: last.map { Int(self[$0].count) } ?? 0,
      reference: run.origin)
    _ = insert(run, at: gap)
  }

  /// Adds an element with a longer story behind all others.
  func appendOdd(_ slot: Slot, origin: OpId) {
    guard let id = slot.ops.first?.id else { return }
    if slot.ops.first?.action == .mark { hasMarks = true }
    slots.append(OddSlot(slot))
    for op in slot.ops.dropFirst() { updates[op.id] = id }
    appendRun(TextRun(odd: id, origin: origin, slot: slots.count - 1))
  }

  /// The last run; nil in an empty sequence.
  var lastPlace: Place? {
    var node = root
    while true {
      let child = children[node * Self.nodeCapacity + nodes[node].count - 1]
      if nodes[node].isBottom {
        let count = leaves[Int(child)].count
        return count == 0 ? nil : Place(leaf: child, run: count - 1)
      }
      node = Int(child)
    }
  }
}
