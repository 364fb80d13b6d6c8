/// In which leaf of a tree an operation's element stands: for each actor, stretches of counters sorted by their start.
///
/// A stretch reaches to the start of the next one, so ids that belong to other objects fall into some stretch too; the
/// leaf itself tells whether the element is there.
struct OpIndex {
  private var actors: [Stretches] = []

  fileprivate struct Stretches {
    var starts: [UInt32] = []
    var leaves: [UInt32] = []
    /// No element at or behind this counter has been assigned.
    var known: UInt32 = 0

    /// The last stretch that begins at or before `counter`, or -1.
    func position(_ counter: UInt32) -> Int {
      if let last = starts.last, last <= counter { return starts.count - 1 }
      var low = 0, high = starts.count
      while low < high {
        let middle = (low + high) / 2
        if starts[middle] <= counter { low = middle + 1 } else { high = middle }
      }
      return low - 1
    }
  }

  /// The leaf to look in. - Complexity: O(log n) in the stretches of the actor.
  func leaf(of id: OpId) -> UInt32? {
    guard Int(id.actor) < actors.count else { return nil }
    let position = actors[Int(id.actor)].position(id.counter)
    return position < 0 ? nil : actors[Int(id.actor)].leaves[position]
  }

  /// Records that the `count` elements from `first` on stand in `leaf`.
  mutating func assign(_ first: OpId, count: Int, leaf: UInt32) {
    let actor = Int(first.actor)
    if actor >= actors.count {
      actors.append(contentsOf: repeatElement(Stretches(), count: actor + 1 - actors.count))
    }
    actors[actor].assign(first.counter, to: first.counter + UInt32(count), leaf: leaf)
  }
}

extension OpIndex.Stretches {
  mutating func assign(_ start: UInt32, to end: UInt32, leaf: UInt32) {
    let before = position(start)
    if before >= 0, leaves[before] == leaf, before + 1 == starts.count || starts[before + 1] >= end {
      known = max(known, end)
      return
    }
    if start >= known {
      starts.append(start)
      leaves.append(leaf)
      known = end
      return
    }
    let last = position(end - 1)
    // What lies behind `end` in the stretch that is cut stays where it was.
    let isCut = end < known && !(last + 1 < starts.count && starts[last + 1] == end)
    let behind = isCut && last >= 0 ? Optional(leaves[last]) : nil
    let from = before >= 0 && starts[before] == start ? before : before + 1
    var newStarts: [UInt32] = [], newLeaves: [UInt32] = []
    if from == 0 || leaves[from - 1] != leaf {
      newStarts.append(start)
      newLeaves.append(leaf)
    }
    if let behind, behind != leaf {
      newStarts.append(end)
      newLeaves.append(behind)
    }
    starts.replaceSubrange(from..<last + 1, with: newStarts)
    leaves.replaceSubrange(from..<last + 1, with: newLeaves)
    known = max(known, end)
  }
}
