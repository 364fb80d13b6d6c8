/// Which of an actor's changes can be undone and redone. Undoing makes a change, so what can be redone are such changes.
struct UndoHistory {
  /// Rows of changes to revert, the next one last.
  private(set) var undoable: [Int] = []
  /// Rows of changes that reverted others.
  private(set) var redoable: [Int] = []
  /// Changes with those that reverted them.
  private var pairs: [(change: Int, by: Int)] = []
  /// What reverting changes put in again, by the row of the change that did.
  private(set) var copies: [Int: RestoredCopies] = [:]
  private var actor: ActorId?
  private var nextRow = 0

  /// Takes account of the changes that were made since the last time. A change that undoes nothing ends redoing.
  mutating func update(from core: DocumentCore) {
    if actor != core.actor { (self, actor) = (UndoHistory(), core.actor) }
    let own = core.actors.find(core.actor)
    while nextRow < core.graph.count {
      let record = core.graph.records[nextRow]
      if record.actor == own, record.opCount > 0 {
        undoable.append(nextRow)
        redoable = []
      }
      nextRow += 1
    }
  }

  enum Direction { case undo, redo }

  /// The change to revert next; nil if there is none.
  mutating func next(_ direction: Direction) -> Int? {
    switch direction {
    case .undo: undoable.popLast()
    case .redo: redoable.popLast()
    }
  }

  /// Records that the last change reverted another one.
  mutating func didRevert(_ direction: Direction, _ change: Int, by row: Int, restoring copies: RestoredCopies) {
    nextRow = row + 1
    pairs.append((change, row))
    self.copies[row] = copies
    switch direction {
    case .undo: redoable.append(row)
    case .redo: undoable.append(row)
    }
  }

  /// Records that the last change reverted others, which the caller tracks itself.
  mutating func didRevert(_ changes: [Int], by row: Int, restoring copies: RestoredCopies) {
    nextRow = row + 1
    pairs += changes.map { ($0, row) }
    self.copies[row] = copies
    undoable.removeAll { changes.contains($0) }
    redoable.removeAll { changes.contains($0) }
  }

  /// The changes to leave out in order to revert some: themselves, and what came later, was reverted too and had to do with them.
  /// For what reverting restored looks like new, but is not.
  ///
  /// What was restored stays if others have done more to it since than to delete or replace it: leaving it out would lose
  /// that. The changes may then have nothing left that shows.
  /// - Complexity: O(n) in the runs of the changes made since.
  func related(to changes: [Int], in core: DocumentCore) -> [Int] {
    var rows = Set(changes)
    var scope = DifferenceScope(rows: changes.sorted(), of: core).withSurroundings(in: core)
    let first = changes.min() ?? 0
    var open = pairs.filter { pair in
      pair.change > first && !(copies[pair.by].map { $0.areChangedByOthers(in: core, since: pair.by) } ?? false)
    }
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      open.removeAll { pair in
        let own = DifferenceScope(rows: [pair.change, pair.by], of: core)
        guard rows.contains(pair.change) || rows.contains(pair.by) || own.meets(scope, in: core) else { return false }
        scope.formUnion(own.withSurroundings(in: core))
        rows.formUnion([pair.change, pair.by])
        isGrowing = true
        return true
      }
    }
    return rows.sorted()
  }
}
