/// Which of an actor's changes can be undone and redone. Undoing makes a change, and such changes are what can be
/// redone.
struct UndoHistory {
  /// Rows of changes to revert; the next one is last.
  private(set) var undoable: [Int] = []
  /// Rows of changes that reverted others.
  private(set) var redoable: [Int] = []
  /// Changes, each with the change that reverted it.
  private var pairs: [(change: Int, by: Int)] = []
  /// What each reverting change restored, by its row.
  private(set) var copies: [Int: RestoredCopies] = [:]
  /// All texts and list elements among them.
  private(set) var pieces = RestoredPieces()
  private var actor: ActorId?
  private var nextRow = 0

  /// Adds the changes made since the last update. A change that undoes nothing ends redoing.
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
    record(copies, of: row)
    switch direction {
    case .undo: redoable.append(row)
    case .redo: undoable.append(row)
    }
  }

  /// Records that the last change reverted others, which the caller tracks itself.
  mutating func didRevert(_ changes: [Int], by row: Int, restoring copies: RestoredCopies) {
    nextRow = row + 1
    pairs += changes.map { ($0, row) }
    record(copies, of: row)
    undoable.removeAll { changes.contains($0) }
    redoable.removeAll { changes.contains($0) }
  }

  private mutating func record(_ copies: RestoredCopies, of row: Int) {
    self.copies[row] = copies
    for piece in copies.elements { pieces.add(piece) }
  }

  /// The changes to exclude in order to revert some: these, and later ones that were reverted too and touch the same
  /// things, because what reverting restored looks new but is not.
  ///
  /// Restored content stays if others have since done more to it than delete or replace it, since excluding it would
  /// lose their edits. The changes may then have no visible effect.
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
