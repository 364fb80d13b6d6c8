/// Applies the operations of other replicas' changes to the objects, adds them to the log, and reports the resulting
/// edits of texts.
///
/// The changes have been checked: everything that their operations refer to exists.
struct ReceivedOps {
  private let core: DocumentCore

  init(_ core: DocumentCore) { self.core = core }

  /// Applies all operations of a change.
  /// - Parameter known: for each actor of the change its index in the document.
  func apply(_ change: DecodedChange, actors known: [UInt32], edits: inout TextEditCollector?) {
    var id = OpId(counter: change.header.startOp, actor: known[0])
    for run in change.runs {
      apply(run, of: change, id: id, actors: known, edits: &edits)
      id.counter &+= run.count
    }
  }

  private func apply(
    _ foreign: OpRun, of change: DecodedChange, id: OpId, actors known: [UInt32], edits: inout TextEditCollector?
  ) {
    func own(_ id: OpId) -> OpId { id.isZero ? .zero : OpId(counter: id.counter, actor: known[Int(id.actor)]) }
    if foreign.kind == .other {
      var op = change.others[Int(foreign.text)]
      op.object = own(op.object)
      if case .element(let element) = op.key { op.key = .element(own(element)) }
      op.predecessors = op.predecessors.map(own)
      apply(op, id: id, edits: &edits)
      core.log.append(op, id: id)
      return
    }
    var run = foreign
    run.object = own(run.object)
    run.target = own(run.target)
    guard let tree = core.store.sequence(run.object) else { preconditionFailure("the change was checked") }
    if run.kind == .insertText {
      run.text = UInt32(core.bytes.append(change.text[foreign.textRange], actor: id.actor))
      guard let gap = tree.gap(behind: run.target, inserting: id) else { preconditionFailure("the change was checked") }
      if edits != nil, core.store.type(of: run.object) == .makeText {
        let offset = tree.visible(before: gap)[.utf8]
        edits?.replace(
          core.objId(run.object), at: offset, deleted: [], inserted: change.text[foreign.textRange],
          followsDeleted: tree.followsDeleted(gap))
      }
      tree.insertText(at: gap, id: id, text: run.textRange, scalars: Int(run.count))
    } else {
      delete(run, id: id, in: tree, edits: &edits)
    }
    core.log.append(run, id: id)
  }

  /// Applies a run of deletions, each time as many as one run of the tree allows.
  func delete(_ run: OpRun, id: OpId, in tree: TextTree, edits: inout TextEditCollector?) {
    var target = run.target, id = id, left = Int(run.count)
    while left > 0 {
      guard let (place, element) = tree.find(target) else { preconditionFailure("the change was checked") }
      let found = tree[place]
      var count = 1, first = element
      if !found.isIrregular, found.isVisible {
        count = min(left, run.step > 0 ? Int(found.count) - element : element + 1)
        if run.step < 0 { first = element - count + 1 }
        if edits != nil, core.store.type(of: run.object) == .makeText {
          let before = tree.measure(ofFirst: first, of: found).utf8
          let through = tree.measure(ofFirst: first + count, of: found).utf8
          edits?.replace(
            core.objId(run.object), at: tree.start(of: place)[.utf8] + before,
            deleted: core.bytes.bytes[found.textStart + before..<found.textStart + through], inserted: [])
        }
        let lowest = run.step > 0 ? id : id.advanced(by: count - 1)
        tree.markDeleted(place, element: first, count: count, by: lowest, step: Int8(run.step))
      } else {
        let op = StoredOp(id: id, action: .delete, value: .null)
        update(
          tree, run.object, at: tree.makeIrregular(place, element: element), op, predecessors: [target], edits: &edits)
      }
      left -= count
      guard left > 0 else { break }
      id = id.advanced(by: count)
      target = target.advanced(by: run.step * count)
    }
  }

  private func apply(_ op: OtherOp, id: OpId, edits: inout TextEditCollector?) {
    let stored = StoredOp(id: id, action: op.action, value: op.value, expand: op.expand, markName: op.markName)
    switch op.key {
    case .map(let key):
      core.store.map(op.object)?.apply(stored, key: key, predecessors: op.predecessors, actors: core.actors)
    case .element(let element):
      guard let tree = core.store.sequence(op.object) else { preconditionFailure("the change was checked") }
      if op.isInsert {
        guard let gap = tree.gap(behind: element, inserting: id) else { preconditionFailure("the change was checked") }
        if edits != nil, core.store.type(of: op.object) == .makeText, stored.action != .mark {
          edits?.replace(
            core.objId(op.object), at: tree.visible(before: gap)[.utf8], deleted: [], inserted: stored.textUTF8,
            followsDeleted: tree.followsDeleted(gap))
        }
        tree.insertIrregular(at: gap, op: stored)
      } else {
        guard let found = tree.find(element) else { preconditionFailure("the change was checked") }
        let place = tree.makeIrregular(found.place, element: found.element)
        update(tree, op.object, at: place, stored, predecessors: op.predecessors, edits: &edits)
      }
    }
    if op.action.makesObject { core.store.make(id, op.action) }
  }

  /// Applies an operation to an irregular element and reports the resulting edit of the text.
  private func update(
    _ tree: TextTree, _ object: OpId, at place: TextTree.Place, _ op: StoredOp, predecessors: [OpId],
    edits: inout TextEditCollector?
  ) {
    let slot = Int(tree[place].text)
    let before = tree.slots[slot].shown
    tree.apply(op, predecessors: predecessors, to: place)
    let now = tree.slots[slot].shown
    guard edits != nil, core.store.type(of: object) == .makeText, before != now else { return }
    edits?.replace(core.objId(object), at: tree.start(of: place)[.utf8], deleted: before, inserted: now)
  }
}
