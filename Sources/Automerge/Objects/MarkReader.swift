/// Reads the marks of a text at some state.
/// - Complexity: O(n) in the runs of the text.
struct MarkReader {
  private let tree: TextTree
  private let clock: Clock
  /// The unit that positions are counted in.
  private let unit: TextUnit

  init(_ tree: TextTree, at clock: Clock, _ unit: TextUnit) { (self.tree, self.clock, self.unit) = (tree, clock, unit) }

  /// All marks, by name and then from left to right.
  func all() -> [Mark] {
    var collector = MarkCollector()
    var active = MarksInForce(at: clock, actors: tree.actors)
    tree.forEachStretch(at: clock) { stretch in
      if case .mark(let op) = stretch {
        if let name = active.pass(op)?.name { collector.set(name, active.values[name]) }
      } else {
        collector.skip(tree.sums(of: stretch)[unit])
      }
      return true
    }
    return collector.finish()
  }

  /// The marks of the visible element that covers the unit after `index` units, by name; none past the end.
  func marks(at index: Int) -> [(name: String, value: ScalarValue)] {
    var found: [MapKey: RawValue] = [:]
    var active = MarksInForce(at: clock, actors: tree.actors), offset = 0
    tree.forEachStretch(at: clock) { stretch in
      if case .mark(let op) = stretch {
        active.pass(op)
        return true
      }
      offset += tree.sums(of: stretch)[unit]
      guard offset > index else { return true }
      found = active.values
      return false
    }
    return found.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value.scalar) }
  }
}
