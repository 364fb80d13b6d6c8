/// Finds the change that an operation belongs to.
///
/// Read from the graph on demand, each change once.
struct ChangeLookup {
  private struct Entry {
    let startOp: UInt32
    let row: Int
  }

  /// For each actor index its changes with operations, ascending.
  private var entries: [[Entry]] = []
  private var nextRow = 0

  /// Adds the changes made since the last update.
  /// - Complexity: O(n) in these changes
  mutating func update(from graph: ChangeGraph) {
    while nextRow < graph.count {
      let record = graph.records[nextRow], actor = Int(record.actor)
      if actor >= entries.count {
        entries.append(contentsOf: repeatElement([], count: actor + 1 - entries.count))
      }
      if record.opCount > 0 { entries[actor].append(Entry(startOp: record.startOp, row: nextRow)) }
      nextRow += 1
    }
  }

  /// The row of the change; nil if the operation belongs to none yet.
  /// - Complexity: O(log n) in the actor's changes
  func row(of id: OpId) -> Int? { place(of: id).map { entries[Int(id.actor)][$0].row } }

  /// The row of the change, and how many operations from `id` on certainly belong to the same change.
  func stretch(from id: OpId, in graph: ChangeGraph) -> (row: Int, count: Int)? {
    guard let row = row(of: id) else { return nil }
    return (row, Int(graph.records[row].maxOp) - Int(id.counter) + 1)
  }

  private func place(of id: OpId) -> Int? {
    guard Int(id.actor) < entries.count else { return nil }
    let own = entries[Int(id.actor)]
    var low = 0, high = own.count
    while low < high {
      let middle = (low + high) / 2
      if own[middle].startOp <= id.counter { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : low - 1
  }
}
