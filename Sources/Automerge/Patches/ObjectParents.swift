/// Where each object stands: which object holds it, and at which key or element.
///
/// Read from the log when somebody asks, each change once.
struct ObjectParents {
  struct Place {
    let object: OpId
    /// A key, or the element itself (never what it was inserted behind).
    let key: OtherOp.Key
  }

  private var places: [OpId: Place] = [:]
  /// The first row that has not been read.
  private var nextRow = 0

  /// Nil for the root and for objects of changes that are not complete yet.
  subscript(object: OpId) -> Place? { places[object] }

  /// Takes account of the changes that came since the last time.
  /// - Complexity: O(n) in the runs of those changes.
  mutating func update(from core: DocumentCore) {
    while nextRow < core.graph.count {
      let record = core.graph.records[nextRow]
      var id = OpId(counter: record.startOp, actor: record.actor)
      for index in core.graph.runRange(of: nextRow) {
        let run = core.log.runs[index]
        if run.kind == .other {
          let op = core.log.others[Int(run.text)]
          if op.action.makesObject { places[id] = Place(object: op.object, key: op.isInsert ? .element(id) : op.key) }
        }
        id.counter &+= run.count
      }
      nextRow += 1
    }
  }
}
