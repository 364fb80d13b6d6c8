/// The parent of each object, and the key or element at which it is held. Objects that the pending transaction has made are
/// among them.
///
/// Read from the log on demand, each operation once.
struct ObjectParents {
  struct Place {
    let object: OpId
    /// A key, or the element itself (never what it was inserted after).
    let key: OtherOp.Key
  }

  private var places: [OpId: Place] = [:]
  /// How many operations of the log have been read.
  private var readCount = 0

  /// Nil for the root and for objects that were made since the last update.
  subscript(object: OpId) -> Place? { places[object] }

  /// Takes account of the operations that came since the last time.
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
