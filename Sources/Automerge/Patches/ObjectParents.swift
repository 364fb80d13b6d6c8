/// The parent of each object, and its key or element there, including objects that the pending transaction has made.
///
/// Read from the log on demand, each operation once.
struct ObjectParents {
  struct Place {
    let object: OpId
    /// A key, or the element itself (never the one it was inserted after).
    let key: OtherOp.Key
  }

  private var places: [OpId: Place] = [:]
  /// How many operations of the log have been read.
  private var readCount = 0

  /// Nil for the root and for objects that were made since the last update.
  subscript(object: OpId) -> Place? { places[object] }

  /// Adds the operations since the last update.
  /// - Complexity: O(n) in the runs of those operations.
  mutating func update(from core: DocumentCore) {
    let count = core.log.opCount
    core.log.forEachRun(in: readCount..<count) { run, id in
      guard run.kind == .other else { return }
      let op = core.log.others[Int(run.text)]
      if op.action.makesObject { places[id] = Place(object: op.object, key: op.isInsert ? .element(id) : op.key) }
    }
    readCount = count
  }
}
