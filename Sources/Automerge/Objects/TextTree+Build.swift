/// Fills an empty tree with runs that come in document order.
struct TextTreeBuilder {
  let tree: TextTree
  /// The last run. It is not in the tree yet, because the next one may continue it, and its newlines are not counted.
  private(set) var last: TextRun?
  /// The leaf that is being filled, the number of its runs, and what they show.
  private var leaf: UInt32 = 0
  private var held = 0
  private var sums = TextSums.zero

  /// Leaves and nodes are not filled completely, to leave room for insertions.
  private static let fill = 28

  init(_ tree: TextTree) { self.tree = tree }

  /// Adds a run at the end, joined with the last one if it continues that.
  @inline(__always)
  mutating func append(_ run: TextRun) {
    guard last == nil || last?.canMerge(run) == false else {
      last?.merge(run)
      return
    }
    if let last { put(last) }
    last = run
  }

  /// Adds an irregular element at the end.
  mutating func appendIrregular(_ slot: Slot, origin: OpId) {
    guard let id = slot.first?.id else { return }
    if slot.first?.action == .mark { tree.hasMarks = true }
    tree.changeSlots { $0.append(IrregularElement(slot)) }
    for op in slot.ops.dropFirst() { tree.updates[op.id] = id }
    append(TextRun(irregular: id, origin: origin, slot: tree.slots.count - 1))
  }

  /// The last operation on the last element; nil if there is none.
  var lastOp: OpId? {
    guard let last else { return nil }
    return last.isIrregular ? tree.slots[Int(last.text)].slot.ops.last?.id : last.lastId
  }

  /// Adds operations on the last element, after its earlier ones.
  mutating func addToLast(_ ops: [StoredOp]) {
    guard var run = last else { return }
    if !run.isIrregular {
      if run.count > 1 {
        run.newlines = newlines(of: run)
        let tail = run.split(at: Int(run.count) - 1, bytes: tree.bytes)
        put(run)
        run = tail
      }
      let slot = tree.slot(of: run, 0)
      tree.changeSlots { $0.append(IrregularElement(slot)) }
      run = TextRun(irregular: run.id, origin: run.origin, slot: tree.slots.count - 1)
      last = run
    }
    let slot = Int(run.text)
    tree.changeSlots { slots in
      slots[slot].slot.append(ops)
      slots[slot].refresh()
    }
    for op in ops { tree.updates[op.id] = run.id }
  }

  private func newlines(of run: TextRun) -> UInt16 {
    UInt16(tree.bytes.measure(run.textStart..<run.textEnd).newlines)
  }

  private mutating func put(_ run: TextRun) {
    var run = run
    if !run.isIrregular { run.newlines = newlines(of: run) }
    if held == Self.fill {
      close()
      let next = tree.appendLeaf()
      tree.leaves[Int(leaf)].next = next
      (leaf, held, sums) = (next, 0, .zero)
    }
    if tree.slot(leaf, held) == tree.runs.count { tree.growFirstLeaf() }
    tree.runs[tree.slot(leaf, held)] = run
    held += 1
    sums += tree.sums(of: run)
  }

  private func close() {
    tree.leaves[Int(leaf)].count = held
    tree.leaves[Int(leaf)].sums = sums
  }

  /// Completes the tree. Nothing can be added afterwards.
  mutating func finish() {
    if let last { put(last) }
    last = nil
    close()
    tree.hangLeaves(perNode: Self.fill)
  }
}

extension TextTree {
  fileprivate func appendLeaf() -> UInt32 {
    runs.append(Self.noRun, repeated: Self.leafCapacity)
    return UInt32(leaves.append(Leaf(parent: 0)))
  }

  /// Makes the nodes above leaves that are in order. There is one node, above nothing that counts.
  fileprivate func hangLeaves(perNode: Int) {
    var level = (0..<leaves.count).map { UInt32($0) }, isBottom = true
    repeat {
      var above: [UInt32] = []
      for start in stride(from: 0, to: level.count, by: perNode) {
        let node = isBottom && start == 0 ? 0 : appendNode(isBottom: isBottom)
        let below = level[start..<min(start + perNode, level.count)]
        var sums = TextSums.zero
        for (at, child) in below.enumerated() {
          children[node * Self.nodeCapacity + at] = child
          setParent(of: child, in: node)
          sums += sumsOfChild(child, in: node)
        }
        nodes[node].count = below.count
        nodes[node].sums = sums
        above.append(UInt32(node))
      }
      (level, isBottom) = (above, false)
    } while level.count > 1
    root = Int(level[0])
  }

  private func appendNode(isBottom: Bool) -> Int {
    children.append(Self.none, repeated: Self.nodeCapacity)
    return nodes.append(Node(isBottom: isBottom))
  }
}
