/// A sequence object, text or list, as a B+tree of runs in document order, deleted ones included.
///
/// Leaves hold runs; inner nodes hold the sums of what is visible below them, in every unit. A leaf or node is never
/// removed: a sequence only grows. Links are indices into arenas, so copying a tree is copying memory.
final class TextTree {
  static let leafCapacity = 32
  static let nodeCapacity = 32
  /// How many runs a new tree has room for: a document may have very many sequences of one or no element.
  private static let firstRoom = 2
  static let none = UInt32.max

  struct Leaf: BitwiseCopyable {
    var sums = TextSums.zero
    var parent: UInt32
    var next = TextTree.none
    var count = 0
    /// The least id of an element of the leaf. Zero is no id, and means that this is unknown.
    var least = OpId.zero
  }

  struct Node: BitwiseCopyable {
    var sums = TextSums.zero
    var parent = TextTree.none
    var count = 0
    /// Whether the children are leaves.
    var isBottom: Bool
    /// The least id of an element below; if this is known, it is known of everything below as well.
    var least = OpId.zero
  }

  /// The place of a run.
  struct Place {
    var leaf: UInt32
    var run: Int
  }

  /// Where the last visible edit or look-up was, so that the next one nearby need not descend the tree.
  struct Hint {
    var leaf = TextTree.none
    /// What is visible before the leaf.
    var leafStart = TextSums.zero
    var run = -1
    /// What is visible before the run; only if `run >= 0`.
    var runStart = TextSums.zero
  }

  /// A change in what a leaf shows that the nodes above it do not include yet: typing changes one leaf many times.
  private struct Pending {
    var leaf = TextTree.none
    var change = TextSums.zero
  }

  let bytes: TextBytes
  let actors: ActorTable
  /// The irregular elements.
  private(set) var slots: [IrregularElement] = []
  /// Operations that updated an element, and which element.
  var updates: [OpId: OpId] = [:]
  /// Whether any mark was ever set: only then does an insertion have to look for sticky ends.
  var hasMarks = false
  let runs: Arena<TextRun>
  let leaves: Arena<Leaf>
  let nodes: Arena<Node>
  let children: Arena<UInt32>
  var root = 0
  var index = OpIndex()
  var hint = Hint()
  private var pending = Pending()

  static let noRun = TextRun(id: .zero, origin: .zero, text: 0, measure: .zero)

  init(bytes: TextBytes, actors: ActorTable) {
    (self.bytes, self.actors) = (bytes, actors)
    runs = Arena(capacity: Self.firstRoom)
    leaves = Arena(capacity: 1)
    nodes = Arena(capacity: 1)
    children = Arena(capacity: Self.nodeCapacity)
    runs.append(Self.noRun, repeated: Self.firstRoom)
    leaves.append(Leaf(parent: 0))
    root = nodes.append(Node(count: 1, isBottom: true))
    children.append(Self.none, repeated: Self.nodeCapacity)
    children[0] = 0
  }

  init(copying other: TextTree, bytes: TextBytes, actors: ActorTable) {
    (self.bytes, self.actors) = (bytes, actors)
    other.settle()
    runs = Arena(copying: other.runs)
    leaves = Arena(copying: other.leaves)
    nodes = Arena(copying: other.nodes)
    children = Arena(copying: other.children)
    (slots, updates, hasMarks, root, index) = (other.slots, other.updates, other.hasMarks, other.root, other.index)
  }

  /// Changes the irregular elements. Taken out meanwhile: see decision 25.
  func changeSlots(_ change: (inout [IrregularElement]) -> Void) {
    var slots: [IrregularElement] = []
    swap(&slots, &self.slots)
    change(&slots)
    swap(&slots, &self.slots)
  }

  var total: TextSums { nodes[root].sums + pending.change }
  var firstLeaf: UInt32 { 0 }

  @inline(__always)
  func slot(_ leaf: UInt32, _ run: Int) -> Int { Int(leaf) * Self.leafCapacity + run }

  subscript(place: Place) -> TextRun {
    @inline(__always) get { runs[slot(place.leaf, place.run)] }
    @inline(__always) set { runs[slot(place.leaf, place.run)] = newValue }
  }

  /// What a run shows.
  @inline(__always)
  func sums(of run: TextRun) -> TextSums {
    if run.isIrregular { return slots[Int(run.text)].sums }
    guard run.isVisible else { return .zero }
    return TextSums(run.measure, elements: Int(run.count))
  }

  /// The next run; nil at the end.
  func next(_ place: Place) -> Place? {
    if place.run + 1 < leaves[Int(place.leaf)].count { return Place(leaf: place.leaf, run: place.run + 1) }
    let next = leaves[Int(place.leaf)].next
    return next == Self.none ? nil : Place(leaf: next, run: 0)
  }

  /// The first run; nil in an empty sequence.
  var first: Place? { leaves[0].count > 0 ? Place(leaf: 0, run: 0) : nil }

  // MARK: Growing

  @inline(__always)
  func add(_ change: TextSums, to leaf: UInt32) {
    leaves[Int(leaf)].sums += change
    if pending.leaf != leaf {
      settle()
      pending.leaf = leaf
    }
    pending.change += change
  }

  /// Adds changed sums to the nodes above. Call before sums of nodes are read or moved.
  func settle() {
    guard pending.leaf != Self.none else { return }
    var node = leaves[Int(pending.leaf)].parent
    while node != Self.none {
      nodes[Int(node)].sums += pending.change
      node = nodes[Int(node)].parent
    }
    pending = Pending()
  }

  /// Makes room for `count` runs at a place, which moves if the leaf must be split. The caller fills it.
  func openGap(_ place: inout Place, count: Int) {
    var held = leaves[Int(place.leaf)].count
    if held + count > Self.leafCapacity {
      // Typing at the end fills leaves; typing in the middle needs room on both sides.
      let keep = place.run >= held - 1 ? held - 3 : held / 2
      let new = splitLeaf(place.leaf, keeping: keep)
      if place.run > keep {
        if hint.leaf == place.leaf {
          hint.leafStart += leaves[Int(place.leaf)].sums
          hint.leaf = new
        }
        place = Place(leaf: new, run: place.run - keep)
      }
      held = leaves[Int(place.leaf)].count
    }
    if held + count > runs.count { growFirstLeaf() }
    let from = slot(place.leaf, place.run)
    runs.move(from: from, to: from + count, count: held - place.run)
    leaves[Int(place.leaf)].count = held + count
    if hint.leaf == place.leaf { hint.run = -1 }
  }

  /// Makes more room in the first leaf while it is the only one, up to that of a leaf.
  func growFirstLeaf() { runs.append(Self.noRun, repeated: min(4 * runs.count, Self.leafCapacity) - runs.count) }

  /// Removes one run from its leaf, which must have others.
  func closeGap(_ place: Place) {
    let held = leaves[Int(place.leaf)].count
    let to = slot(place.leaf, place.run)
    runs.move(from: to + 1, to: to, count: held - place.run - 1)
    leaves[Int(place.leaf)].count = held - 1
    if hint.leaf == place.leaf { hint.run = -1 }
  }

  private func splitLeaf(_ leaf: UInt32, keeping keep: Int) -> UInt32 {
    settle()
    let old = Int(leaf), moved = leaves[old].count - keep
    let new = leaves.append(Leaf(parent: leaves[old].parent, next: leaves[old].next, count: moved))
    runs.append(Self.noRun, repeated: Self.leafCapacity)
    runs.move(from: slot(leaf, keep), to: slot(UInt32(new), 0), count: moved)
    var sums = TextSums.zero
    for each in 0..<moved {
      let run = runs[slot(UInt32(new), each)]
      sums += self.sums(of: run)
      assign(run.id, count: Int(run.count), leaf: UInt32(new))
    }
    leaves[new].sums = sums
    leaves[old].sums -= sums
    leaves[old].next = UInt32(new)
    leaves[old].count = keep
    if !leaves[old].least.isZero {
      LeastIds(tree: self).note(leaf: leaf)
      LeastIds(tree: self).note(leaf: UInt32(new))
    }
    insertChild(UInt32(new), behind: leaf, in: leaves[old].parent)
    return UInt32(new)
  }

  /// Inserts a child that took its content from its left neighbour, so no sums above change.
  private func insertChild(_ child: UInt32, behind left: UInt32, in parent: UInt32) {
    var node = Int(parent)
    if nodes[node].count == Self.nodeCapacity {
      let new = splitNode(node)
      if !holds(node, left) {
        // What the child took from its left neighbour is counted in the half that stayed.
        let sums = sumsOfChild(child, in: node)
        nodes[node].sums -= sums
        nodes[new].sums += sums
        node = new
      }
    }
    let base = node * Self.nodeCapacity, count = nodes[node].count
    var at = 0
    while children[base + at] != left { at += 1 }
    children.move(from: base + at + 1, to: base + at + 2, count: count - at - 1)
    children[base + at + 1] = child
    nodes[node].count = count + 1
    setParent(of: child, in: node)
    if !nodes[node].least.isZero {
      // If the node was split, the half that the child came to may have lost its least id to the child.
      let least = LeastIds(tree: self)
      least.lower(node: UInt32(node), to: least.ofChild(at: at + 1, in: node))
    }
  }

  private func holds(_ node: Int, _ child: UInt32) -> Bool {
    (0..<nodes[node].count).contains { children[node * Self.nodeCapacity + $0] == child }
  }

  func setParent(of child: UInt32, in node: Int) {
    if nodes[node].isBottom {
      leaves[Int(child)].parent = UInt32(node)
    } else {
      nodes[Int(child)].parent = UInt32(node)
    }
  }

  private func splitNode(_ node: Int) -> Int {
    let keep = nodes[node].count / 2, moved = nodes[node].count - keep
    let new = nodes.append(Node(parent: nodes[node].parent, count: moved, isBottom: nodes[node].isBottom))
    children.append(Self.none, repeated: Self.nodeCapacity)
    children.move(from: node * Self.nodeCapacity + keep, to: new * Self.nodeCapacity, count: moved)
    nodes[node].count = keep
    var sums = TextSums.zero
    for each in 0..<moved {
      let child = children[new * Self.nodeCapacity + each]
      sums += sumsOfChild(child, in: new)
      setParent(of: child, in: new)
    }
    nodes[new].sums = sums
    nodes[node].sums -= sums
    if !nodes[node].least.isZero {
      LeastIds(tree: self).note(node: node)
      LeastIds(tree: self).note(node: new)
    }
    if node == root {
      root = nodes.append(Node(sums: nodes[node].sums + sums, count: 2, isBottom: false))
      let base = children.append(Self.none, repeated: Self.nodeCapacity)
      children[base] = UInt32(node)
      children[base + 1] = UInt32(new)
      nodes[node].parent = UInt32(root)
      nodes[new].parent = UInt32(root)
    } else {
      insertChild(UInt32(new), behind: UInt32(node), in: nodes[node].parent)
    }
    return new
  }

  @inline(__always)
  func sumsOfChild(_ child: UInt32, in node: Int) -> TextSums {
    nodes[node].isBottom ? leaves[Int(child)].sums : nodes[Int(child)].sums
  }
}
