/// How the marks of a text grow over text inserted at their edges: for each name and value as the last such mark does.
struct MarkGrowth {
  private struct Kind: Hashable {
    let name: String
    let value: RawValue
  }

  let tree: TextTree
  private var last: [Kind: StoredOp] = [:]
  /// The operations that grow at their side.
  private var growing: Set<OpId> = []

  /// - Complexity: O(n) in the marks and other irregular elements
  init(of tree: TextTree) {
    self.tree = tree
    for irregular in tree.slots {
      guard let op = irregular.slot.first else { continue }
      if op.expand { growing.insert(op.id) }
      guard op.action == .mark, let name = op.markName else { continue }
      let kind = Kind(name: name, value: op.value)
      if let known = last[kind], !tree.actors.precedes(known.id, op.id) { continue }
      last[kind] = op
    }
  }

  /// How a mark with this name and value should grow: not at all if there was none.
  ///
  /// A mark that is made so grows as this says, so what is known stays right.
  func expand(_ name: String, _ value: RawValue) -> ExpandMark {
    guard let begin = last[Kind(name: name, value: value)] else { return .none }
    switch (begin.expand, growing.contains(begin.id.advanced(by: 1))) {
    case (true, true): return .both
    case (true, false): return .before
    case (false, true): return .after
    case (false, false): return .none
    }
  }
}
