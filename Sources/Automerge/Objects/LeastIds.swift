/// The least ids of leaves and nodes: by these, an insertion passes what many people wrote at one place.
///
/// They are computed when an insertion comes by, and kept exact from then on.
struct LeastIds {
  let tree: TextTree

  private func child(at: Int, in node: Int) -> UInt32 { tree.children[node * TextTree.nodeCapacity + at] }

  /// The last of the leaves from `leaf` on all of whose elements have greater ids than `id`; nil if that leaf has others.
  /// - Complexity: O(log n) if the least ids are known
  func lastLeaf(from leaf: UInt32, after id: OpId) -> UInt32? {
    guard isAfter(id, leaf: leaf) else { return nil }
    var node = Int(tree.leaves[Int(leaf)].parent), at = place(of: leaf, in: node), last: UInt32?
    while true {
      let found = leadingLeaves(in: node, from: at, after: id)
      last = found.last ?? last
      let parent = tree.nodes[node].parent
      guard found.areAll, parent != TextTree.none else { return last }
      at = place(of: UInt32(node), in: Int(parent)) + 1
      node = Int(parent)
    }
  }

  /// The last of the leaves below a node, from the child at `first` on, all of whose elements have greater ids than `id`; and
  /// whether these are all of its leaves from there on.
  private func leadingLeaves(in node: Int, from first: Int, after id: OpId) -> (last: UInt32?, areAll: Bool) {
    var last: UInt32?
    for at in first..<max(first, tree.nodes[node].count) {
      let child = self.child(at: at, in: node)
      if tree.nodes[node].isBottom {
        guard isAfter(id, leaf: child) else { return (last, false) }
        last = child
      } else if !tree.nodes[Int(child)].least.isZero, tree.actors.precedes(id, tree.nodes[Int(child)].least) {
        last = lastLeaf(below: Int(child))
      } else {
        let found = leadingLeaves(in: Int(child), from: 0, after: id)
        last = found.last ?? last
        guard found.areAll else { return (last, false) }
      }
    }
    // The least ids of all children are known now.
    if first == 0, tree.nodes[node].least.isZero { note(node: node) }
    return (last, true)
  }

  private func lastLeaf(below node: Int) -> UInt32 {
    var node = node
    while true {
      let last = child(at: tree.nodes[node].count - 1, in: node)
      if tree.nodes[node].isBottom { return last }
      node = Int(last)
    }
  }

  private func place(of child: UInt32, in node: Int) -> Int {
    var at = 0
    while self.child(at: at, in: node) != child { at += 1 }
    return at
  }

  /// Whether all elements of a leaf have greater ids than `id`.
  private func isAfter(_ id: OpId, leaf: UInt32) -> Bool {
    if tree.leaves[Int(leaf)].least.isZero {
      // The first run decides whether computing it is worthwhile.
      guard tree.actors.precedes(id, tree.runs[tree.slot(leaf, 0)].id) else { return false }
      note(leaf: leaf)
    }
    return tree.actors.precedes(id, tree.leaves[Int(leaf)].least)
  }

  /// Computes the least id of a leaf, which must have runs.
  func note(leaf: UInt32) {
    var least = tree.runs[tree.slot(leaf, 0)].id
    for run in 1..<max(1, tree.leaves[Int(leaf)].count)
    where tree.actors.precedes(tree.runs[tree.slot(leaf, run)].id, least) {
      least = tree.runs[tree.slot(leaf, run)].id
    }
    tree.leaves[Int(leaf)].least = least
  }

  /// Computes the least id of a node of whose children it is known.
  func note(node: Int) {
    var least = ofChild(at: 0, in: node)
    for at in 1..<max(1, tree.nodes[node].count) where tree.actors.precedes(ofChild(at: at, in: node), least) {
      least = ofChild(at: at, in: node)
    }
    tree.nodes[node].least = least
  }

  func ofChild(at: Int, in node: Int) -> OpId {
    let child = Int(self.child(at: at, in: node))
    return tree.nodes[node].isBottom ? tree.leaves[child].least : tree.nodes[child].least
  }

  /// Notes an element that was added to a leaf whose least id is known.
  func lower(leaf: UInt32, to id: OpId) {
    guard tree.actors.precedes(id, tree.leaves[Int(leaf)].least) else { return }
    tree.leaves[Int(leaf)].least = id
    lower(node: tree.leaves[Int(leaf)].parent, to: id)
  }

  /// Notes an element that came to be below a node.
  func lower(node: UInt32, to id: OpId) {
    var node = node
    while node != TextTree.none, !tree.nodes[Int(node)].least.isZero,
      tree.actors.precedes(id, tree.nodes[Int(node)].least)
    {
      tree.nodes[Int(node)].least = id
      node = tree.nodes[Int(node)].parent
    }
  }
}
