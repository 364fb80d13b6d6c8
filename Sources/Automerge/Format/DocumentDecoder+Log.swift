/// Builds the log and the graph of a loaded document from its objects and its table of changes.
///
/// A document does not list deletions: an id that occurs only as a successor is a deletion. Source: automerge-format,
/// section 4, "Reconstructing changes".
struct LogBuilder {
  let log: RunLog
  private let store: ObjectStore
  private var found: [Found] = []
  /// What each element follows, unless that is directly before it, and in which object.
  private var origins: [(element: OpId, object: OpId)] = []

  /// A run of operations that were found in some object.
  private struct Found {
    var id: OpId
    var run: OpRun
  }

  init(store: ObjectStore) {
    self.store = store
    log = RunLog(bytes: store.bytes, actors: store.actors)
  }

  /// Collects all operations from the objects.
  mutating func collect() throws(LoadError) {
    for (object, stored) in store.objects {
      switch stored {
      case .map(let map): for (key, slot) in map.slots { collect(slot, object: object, key: key) }
      case .sequence(let tree): collect(tree, object: object)
      }
    }
    found = RadixOrder.order(of: found.map(\.id.sortKey)).map { found[Int($0)] }
    guard origins.allSatisfy({ isElement($0.element, of: $0.object) }) else { throw .inconsistentDocument(.element) }
    origins = []
  }

  /// Whether an operation that was collected inserted an element of a sequence.
  private func isElement(_ id: OpId, of object: OpId) -> Bool {
    var low = 0, high = found.count
    while low < high {
      let middle = (low + high) / 2
      if found[middle].id.sortKey <= id.sortKey { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return false }
    let (first, run) = (found[low - 1].id, found[low - 1].run)
    guard run.object == object, first.actor == id.actor, id.counter - first.counter < run.count else { return false }
    switch run.kind {
    case .insertText: return true
    case .other: return log.others[Int(run.text)].isInsert
    case .deleteForward, .deleteBackward: return false
    }
  }

  var opCount: Int { found.reduce(0) { $0 + Int($1.run.count) } }

  private mutating func add(_ run: OpRun, id: OpId) { found.append(Found(id: id, run: run)) }

  private mutating func add(_ op: OtherOp, id: OpId) {
    add(.other(object: op.object, index: log.keep(op)), id: id)
  }

  /// Collects the operations on a map's key (`key`) or on an irregular element, and their deletions.
  private mutating func collect(_ slot: Slot, object: OpId, key: MapKey?, origin: OpId = .zero) {
    // Which operations each successor came after; in the end, only the deletions.
    var deletions: [OpId: [OpId]] = [:]
    for op in slot.ops {
      for successor in op.successors { deletions[successor, default: []].append(op.id) }
    }
    let element = slot.first?.id ?? .zero
    for (place, op) in slot.ops.enumerated() {
      let isInsert = key == nil && place == 0
      let opKey: OtherOp.Key = key.map { .map($0) } ?? .element(isInsert ? origin : element)
      add(
        OtherOp(
          object: object, key: opKey, isInsert: isInsert, action: op.action, value: op.value, expand: op.expand,
          markName: op.markName, predecessors: deletions.removeValue(forKey: op.id) ?? []), id: op.id)
    }
    for (deletion, predecessors) in deletions {
      add(
        OtherOp(
          object: object, key: key.map { .map($0) } ?? .element(element), isInsert: false, action: .delete,
          value: .null,
          predecessors: predecessors), id: deletion)
    }
  }

  /// Collects the operations of a sequence.
  private mutating func collect(_ tree: TextTree, object: OpId) {
    // What an element follows is nearly always a few runs before it.
    var recent = Array(repeating: TextRun(id: .zero, origin: .zero, text: 0, measure: .zero), count: 4), next = 0
    tree.forEachRun { run in
      if !run.origin.isZero, !recent.contains(where: { $0.contains(run.origin) }) {
        origins.append((run.origin, object))
      }
      recent[next & 3] = run
      next += 1
      if run.isIrregular {
        collect(tree.slots[Int(run.text)].slot, object: object, key: nil, origin: run.origin)
        return
      }
      let count = Int(run.count)
      add(
        .insertion(object: object, behind: run.origin, count: count, text: run.textStart, byteCount: Int(run.utf8)),
        id: run.id)
      guard !run.isVisible else { return }
      if run.step < 0 {
        add(
          .deletion(object: object, from: run.lastId, count: count, step: -1),
          id: run.deletion.advanced(by: 1 - count))
      } else {
        add(.deletion(object: object, from: run.id, count: count, step: 1), id: run.deletion)
      }
    }
  }

  /// Gives every change its operations: those of its actor after the actor's previous change, up to its own last one.
  mutating func distribute(_ changes: DocumentChanges) throws(LoadError) -> ChangeGraph {
    let graph = ChangeGraph()
    var cursor = Cursor(actorCount: store.actors.count)
    for (place, each) in found.enumerated().reversed() { cursor.next[Int(each.id.actor)] = place }
    for (place, stretch) in changes.stretches.enumerated() {
      guard Int(stretch.seq) == Int(graph.changeCount(of: stretch.actor)) + 1 else {
        throw .inconsistentDocument(.sequence)
      }
      let firstRow = Int(stretch.firstRow)
      let startOp = try takeOps(upTo: stretch.maxOp, of: stretch.actor, &cursor)
      let deps = changes.deps(ofStretch: place)
      for dep in deps where graph.records[Int(dep)].maxOp >= startOp { throw .inconsistentDocument(.counters) }
      let record = ChangeRecord(
        actor: stretch.actor, seq: stretch.seq, startOp: startOp, opCount: stretch.maxOp + 1 - startOp,
        time: stretch.time)
      graph.append(
        record, deps: Array(deps), message: changes.messages[firstRow], extra: changes.extras[firstRow] ?? [])
      var maxOp = stretch.maxOp, left = Int(stretch.count) - 1
      while left > 0 {
        maxOp += stretch.maxOpStep
        left -= 1
        let last = UInt32(graph.count - 1)
        let startOp = try takeOps(upTo: maxOp, of: stretch.actor, &cursor)
        if graph.appendToOwnHead(
          author: stretch.actor, startOp: startOp, opCount: maxOp + 1 - startOp, time: stretch.time)
        {
          guard maxOp + 1 - startOp == stretch.maxOpStep else { continue }
          let more = try takeAlike(left, step: stretch.maxOpStep, behind: maxOp, of: stretch.actor, &cursor)
          graph.repeatLast(more)
          maxOp += UInt32(more) * stretch.maxOpStep
          left -= more
          continue
        }
        let record = ChangeRecord(
          actor: stretch.actor, seq: graph.changeCount(of: stretch.actor) + 1, startOp: startOp,
          opCount: maxOp + 1 - startOp, time: stretch.time)
        graph.append(record, deps: [last], message: nil, extra: [])
      }
    }
    guard cursor.used == found.count else { throw .inconsistentDocument(.counters) }
    return graph
  }

  /// How far the collected operations have been assigned.
  private struct Cursor {
    /// For each actor the place of its next operations in `found`, and its last operation that was assigned.
    var next: [Int]
    var previous: [UInt32]
    var used = 0

    init(actorCount: Int) {
      next = Array(repeating: 0, count: actorCount + 1)
      previous = Array(repeating: 0, count: actorCount)
    }
  }

  /// Writes the operations of up to `limit` changes of `step` operations each to the log, as far as they follow one
  /// another without a gap after `maxOp`. Returns the number of these changes.
  private mutating func takeAlike(
    _ limit: Int, step: UInt32, behind maxOp: UInt32, of author: UInt32, _ cursor: inout Cursor
  ) throws(LoadError) -> Int {
    let end = Int(maxOp) + limit * Int(step)
    var reach = Int(maxOp), next = cursor.next[Int(author)]
    while reach < end, next < found.count, found[next].id.actor == author, Int(found[next].id.counter) == reach + 1 {
      reach += Int(found[next].run.count)
      next += 1
    }
    guard step > 0, reach >= Int(maxOp) + Int(step) else { return 0 }
    let count = (min(reach, end) - Int(maxOp)) / Int(step)
    _ = try takeOps(upTo: maxOp + UInt32(count) * step, of: author, &cursor)
    return count
  }

  /// Writes the actor's next operations to the log, up to one, and returns where they begin: one after `maxOp` if there
  /// are none.
  private mutating func takeOps(
    upTo maxOp: UInt32, of author: UInt32, _ cursor: inout Cursor
  ) throws(LoadError) -> UInt32 {
    let actor = Int(author)
    guard maxOp < .max else { throw .inconsistentDocument(.counters) }
    var startOp = maxOp + 1, counter = startOp, next = cursor.next[actor], isFirst = true
    while next < found.count, found[next].id.actor == author, found[next].id.counter <= maxOp {
      let id = found[next].id
      if isFirst {
        startOp = id.counter
        counter = startOp
        isFirst = false
      }
      guard id.counter == counter, startOp > cursor.previous[actor] else { throw .inconsistentDocument(.counters) }
      let room = Int(maxOp) - Int(counter) + 1
      if room < Int(found[next].run.count) {
        // Removed before it is passed on, because a call of this value's methods would otherwise copy the list.
        let taken = found[next].run.takePrefix(room, id: id, text: store.bytes)
        log.append(taken, id: id)
        found[next].id = id.advanced(by: room)
        counter += UInt32(room)
      } else {
        log.append(found[next].run, id: id)
        counter += found[next].run.count
        next += 1
        cursor.used += 1
      }
    }
    guard counter == maxOp + 1 else { throw .inconsistentDocument(.counters) }
    cursor.next[actor] = next
    cursor.previous[actor] = maxOp
    return startOp
  }
}
