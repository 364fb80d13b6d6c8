/// The properties that must hold after every step.
extension TextTree {
  /// Checks links, sums, limits of runs and the index. Returns what is broken, or nil.
  func checkInvariants() -> String? {
    settle()
    let kept = index
    defer { if kept.isMadeLater { index = kept } }
    var seen = 0
    if let broken = check(node: root, parent: Self.none, leaves: &seen) { return broken }
    var leaf = firstLeaf, linked = 0
    while leaf != Self.none {
      linked += 1
      leaf = leaves[Int(leaf)].next
    }
    if linked != seen || seen != leaves.count {
      return "leaves: \(seen) in the tree, \(linked) linked, \(leaves.count) made"
    }
    return checkHint()
  }

  private func check(node: Int, parent: UInt32, leaves seen: inout Int) -> String? {
    if nodes[node].parent != parent { return "parent of node \(node)" }
    if nodes[node].count < 1 || nodes[node].count > Self.nodeCapacity { return "count of node \(node)" }
    var sums = TextSums.zero
    for at in 0..<nodes[node].count {
      let child = children[node * Self.nodeCapacity + at]
      sums += sumsOfChild(child, in: node)
      if !nodes[node].least.isZero {
        let least = LeastIds(tree: self).ofChild(at: at, in: node)
        if least.isZero || actors.precedes(least, nodes[node].least) { return "least id of node \(node)" }
      }
      if nodes[node].isBottom {
        if leaves[Int(child)].parent != UInt32(node) { return "parent of leaf \(child)" }
        if let broken = check(leaf: child) { return broken }
        seen += 1
      } else if let broken = check(node: Int(child), parent: UInt32(node), leaves: &seen) {
        return broken
      }
    }
    return sums == nodes[node].sums ? nil : "sums of node \(node)"
  }

  private func check(leaf: UInt32) -> String? {
    let count = leaves[Int(leaf)].count
    if count > Self.leafCapacity || (count == 0 && leaves.count > 1) { return "count of leaf \(leaf)" }
    var sums = TextSums.zero
    for run in 0..<count {
      let place = Place(leaf: leaf, run: run), run = self[place]
      sums += self.sums(of: run)
      let least = leaves[Int(leaf)].least
      if !least.isZero, actors.precedes(run.id, least) { return "least id of leaf \(leaf)" }
      if run.count == 0 || Int(run.utf8) > TextRun.maximumByteCount { return "size of run \(run.id)" }
      if run.isIrregular {
        if run.count != 1 || slots[Int(run.text)].slot.first?.id != run.id { return "irregular run \(run.id)" }
      } else {
        if bytes.measure(run.textStart..<run.textEnd) != run.measure { return "measure of run \(run.id)" }
        if (run.step != 0) != (!run.isVisible && run.count > 1) { return "step of run \(run.id)" }
      }
      for element in [0, Int(run.count) - 1] {
        guard let found = find(run.id.advanced(by: element)) else { return "index of \(run.id) + \(element)" }
        if found.place.leaf != leaf { return "leaf of \(run.id) + \(element)" }
      }
      if !run.origin.isZero, !actors.precedes(run.origin, run.id) { return "origin of run \(run.id)" }
    }
    return sums == leaves[Int(leaf)].sums ? nil : "sums of leaf \(leaf)"
  }

  private func checkHint() -> String? {
    guard hint.leaf != Self.none else { return nil }
    let remembered = hint
    hint = Hint()
    defer { hint = remembered }
    if start(ofLeaf: remembered.leaf) != remembered.leafStart { return "start of the hinted leaf" }
    guard remembered.run >= 0 else { return nil }
    let place = Place(leaf: remembered.leaf, run: remembered.run)
    return start(of: place) == remembered.runStart ? nil : "start of the hinted run"
  }
}
