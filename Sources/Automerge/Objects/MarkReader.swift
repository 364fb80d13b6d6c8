/// Reads the marks of a text at some state.
/// - Complexity: O(n) in the runs of the text.
struct MarkReader {
  private struct Stretch {
    var start: Int
    var end: Int
    var value: RawValue
  }

  private let tree: TextTree
  private let clock: Clock
  /// The unit that positions are counted in.
  private let unit: TextUnit

  init(_ tree: TextTree, at clock: Clock, _ unit: TextUnit) { (self.tree, self.clock, self.unit) = (tree, clock, unit) }

  /// All marks, by name and then from left to right.
  func all() -> [Mark] {
    var open: [MapKey: Stretch] = [:]
    var done: [(name: MapKey, mark: Stretch)] = []
    forEachStretch { range, marks in
      for (name, value) in marks.values {
        if let last = open[name] {
          if last.end == range.lowerBound, last.value == value {
            open[name]?.end = range.upperBound
            continue
          }
          done.append((name, last))
        }
        open[name] = Stretch(start: range.lowerBound, end: range.upperBound, value: value)
      }
      return true
    }
    for (name, mark) in open { done.append((name, mark)) }
    done.sort { $0.name == $1.name ? $0.mark.start < $1.mark.start : $0.name < $1.name }
    return done.map { name, mark in
      Mark(start: UInt64(mark.start), end: UInt64(mark.end), name: name.string, value: mark.value.scalar)
    }
  }

  /// The marks of the visible element that covers the unit after `index` units, by name; none past the end.
  func marks(at index: Int) -> [(name: String, value: ScalarValue)] {
    var found: [MapKey: RawValue] = [:]
    forEachStretch { range, marks in
      guard range.upperBound > index else { return true }
      found = marks.values
      return false
    }
    return found.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value.scalar) }
  }

  /// Calls `body` with each visible stretch of the text and its marks, until it returns false.
  private func forEachStretch(_ body: (Range<Int>, ActiveMarks) -> Bool) {
    var active = ActiveMarks(), offset = 0
    tree.forEachStretch(at: clock) { stretch in
      if case .mark(let op) = stretch {
        active.pass(op, actors: tree.actors)
        return true
      }
      let start = offset
      offset += tree.sums(of: stretch)[unit]
      return body(start..<offset, active)
    }
  }
}

/// The marks at one place of a text, during a walk through it from left to right.
struct ActiveMarks {
  /// Marks that have begun and not ended, ascending.
  private var begun: [StoredOp] = []
  /// The value of each name: that of the greatest mark with that name, unless it is null.
  private(set) var values: [MapKey: RawValue] = [:]

  /// Applies the beginning or the end of a mark.
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
