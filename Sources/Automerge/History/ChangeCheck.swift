/// Whether a change of another replica fits this document. Checked before any part of it is applied.
struct ChangeCheck {
  let change: DecodedChange
  let core: DocumentCore
  /// For each actor of the change its index in the document.
  let actors: [UInt32]
  /// The first counter of each run.
  private let starts: [UInt32]

  init(_ change: DecodedChange, core: DocumentCore, actors: [UInt32]) {
    (self.change, self.core, self.actors) = (change, core, actors)
    var starts: [UInt32] = [], next = change.header.startOp
    for run in change.runs {
      starts.append(next)
      next &+= run.count
    }
    self.starts = starts
  }

  /// Whether another replica's change may begin with the counter `first` if all before it end with `last`. A counter far
  /// beyond the number of operations that there are would leave no room for more. Only a change in an isolated past, whose
  /// replica knows more than what it builds on, leaves any out.
  static func canFollow(_ last: UInt32, by first: UInt32, in core: DocumentCore) -> Bool {
    first == last + 1 || Int(first) <= core.log.opCount + FormatLimits.counterGap
  }

  /// - Parameter isOwn: whether this replica has accepted the change before
  func run(deps: [UInt32], isOwn: Bool) throws(LoadError) {
    let author = actors[0], header = change.header
    let next = UInt64(core.graph.changeCount(of: author)) + 1
    if header.seq != next {
      // A number that is in use belongs to another change.
      throw header.seq < next && header.seq > 0
        ? .equalActors(core.actors[author], change.hash) : .inconsistent(change.hash, .sequence)
    }
    guard deps.count < 2 || Set(deps).count == deps.count else { throw .inconsistent(change.hash, .dependency) }
    // The greatest counter is never used, so that the counter after an operation always fits.
    guard change.opCount <= Int(UInt32.max) - Int(header.startOp) else { throw .inconsistent(change.hash, .counters) }
    let own = core.graph.lastRow(of: author).map { [$0] } ?? []
    let greatest = (deps + own).map { core.graph.records[Int($0)].maxOp }.max() ?? 0
    guard header.startOp > greatest, isOwn || Self.canFollow(greatest, by: header.startOp, in: core) else {
      throw .inconsistent(change.hash, .counters)
    }
    guard core.bytes.hasRoom(for: change.text.count), core.log.hasRoom(for: change.opCount) else {
      throw .inconsistent(change.hash, .size)
    }
    for (index, run) in change.runs.enumerated() {
      if let fault = fault(of: run, counter: starts[index]) { throw .inconsistent(change.hash, fault) }
    }
  }

  private func fault(of run: OpRun, counter: UInt32) -> LoadError.Inconsistency? {
    if run.kind == .other { return fault(of: change.others[Int(run.text)], counter: counter) }
    // What an operation refers to was made before it, so it has a smaller counter.
    guard run.object.counter < counter, run.target.counter < counter else { return .counters }
    guard isSequence(run.object, before: counter) else { return .object }
    if run.kind == .insertText {
      return run.target.isZero || hasElement(run.target, in: run.object, before: counter) ? nil : .element
    }
    return hasElements(run, before: counter) ? nil : .predecessor
  }

  private func fault(of op: OtherOp, counter: UInt32) -> LoadError.Inconsistency? {
    guard op.object.counter < counter, op.predecessors.allSatisfy({ $0.counter < counter }) else { return .counters }
    if case .element(let element) = op.key, element.counter >= counter { return .counters }
    switch op.key {
    case .map:
      guard let type = type(of: op.object, before: counter), type == .makeMap || type == .makeTable else {
        return .object
      }
      if op.action == .mark { return .object }
    case .element(let element):
      guard isSequence(op.object, before: counter) else { return .object }
      guard element.isZero || hasElement(element, in: op.object, before: counter) else { return .element }
    }
    var last = OpId.zero
    for id in op.predecessors {
      let known = resolved(id)
      guard last.isZero || core.actors.precedes(last, known) else { return .predecessor }
      guard hasOp(id, at: op, before: counter) else { return .predecessor }
      last = known
    }
    return nil
  }

  private func resolved(_ id: OpId) -> OpId {
    id.isZero ? .zero : OpId(counter: id.counter, actor: actors[Int(id.actor)])
  }

  /// Whether an id belongs to the change itself, before `counter`.
  private func isOwn(_ id: OpId, before counter: UInt32) -> Bool {
    id.actor == 0 && id.counter >= change.header.startOp && id.counter < counter
  }

  private func ownRun(_ id: OpId) -> OpRun {
    var low = 0, high = starts.count
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= id.counter { low = middle + 1 } else { high = middle }
    }
    return change.runs[low - 1]
  }

  private func type(of object: OpId, before counter: UInt32) -> OpAction? {
    if isOwn(object, before: counter) {
      let run = ownRun(object)
      guard run.kind == .other else { return nil }
      let action = change.others[Int(run.text)].action
      return action.makesObject ? action : nil
    }
    return core.store.type(of: resolved(object))
  }

  private func isSequence(_ object: OpId, before counter: UInt32) -> Bool {
    let type = type(of: object, before: counter)
    return type == .makeText || type == .makeList
  }

  private func hasElement(_ id: OpId, in object: OpId, before counter: UInt32) -> Bool {
    if isOwn(id, before: counter) {
      let run = ownRun(id)
      guard run.object == object else { return false }
      return run.kind == .insertText || (run.kind == .other && change.others[Int(run.text)].isInsert)
    }
    return core.store.sequence(resolved(object))?.find(resolved(id)) != nil
  }

  private func hasElements(_ run: OpRun, before counter: UInt32) -> Bool {
    var left = Int(run.count), target = run.target
    while left > 0 {
      var passed = 1
      if isOwn(target, before: counter) {
        guard hasElement(target, in: run.object, before: counter) else { return false }
      } else {
        guard let tree = core.store.sequence(resolved(run.object)), let found = tree.find(resolved(target)) else {
          return false
        }
        passed = run.step > 0 ? Int(tree[found.place].count) - found.element : found.element + 1
      }
      left -= passed
      guard left > 0 else { break }
      let next = Int(target.counter) + run.step * passed
      guard next > 0, next <= Int(UInt32.max) else { return false }
      target.counter = UInt32(next)
    }
    return true
  }

  private func hasOp(_ id: OpId, at op: OtherOp, before counter: UInt32) -> Bool {
    if isOwn(id, before: counter) {
      let run = ownRun(id)
      guard run.object == op.object else { return false }
      if run.kind == .insertText { return op.key == .element(id) }
      guard run.kind == .other else { return false }
      let other = change.others[Int(run.text)]
      guard other.action != .delete else { return false }
      return other.isInsert ? op.key == .element(id) : other.key == op.key
    }
    let object = resolved(op.object), known = resolved(id)
    switch op.key {
    case .map(let key): return core.store.map(object)?[key][known, core.actors] != nil
    case .element(let element):
      guard let tree = core.store.sequence(object), let found = tree.find(resolved(element)) else { return false }
      let run = tree[found.place]
      return run.isIrregular ? tree.slots[Int(run.text)].slot[known, core.actors] != nil : resolved(element) == known
    }
  }
}
