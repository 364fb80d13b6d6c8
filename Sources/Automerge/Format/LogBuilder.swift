/// Builds the log and the graph of a loaded document from its objects and its table of changes.
///
/// A document does not list deletions: an id that occurs only as a successor is a deletion. Source: automerge-format,
/// section 4, "Reconstructing changes".
struct LogBuilder {
  let log: RunLog
  /// How many operations were collected.
  private(set) var opCount = 0
  private let store: ObjectStore
  private var sources: [Source] = []
  private var found: [Found] = []
  /// How many of them are assigned to changes.
  private var usedCount = 0
  /// What each element follows, unless that is directly before it, and in which object.
  private var origins: [(element: OpId, object: OpId)] = []

  /// An object whose operations are runs of a tree, or others, which are in the log.
  private struct Source {
    let object: OpId
    let tree: TextTree?
  }

  /// Where a run of operations was found. The operations themselves stay there, because a document has many.
  private struct Found {
    let id: OpId
    /// An index into `sources`.
    let source: UInt32
    /// The index of a run in its tree, inserted or, if `id` is another one, deleted; or that of another operation in the log.
    let place: UInt32
  }

  init(store: ObjectStore) {
    self.store = store
    log = RunLog(bytes: store.bytes, actors: store.actors)
  }

  /// Collects all operations from the objects.
  mutating func collect() throws(LoadError) {
    found.reserveCapacity(store.objects.values.reduce(0) { $0 + runCount(of: $1) })
    for (object, stored) in store.objects {
      sources.append(Source(object: object, tree: nil))
      switch stored {
      case .map(let map):
        for (key, slot) in map.slots { collect(slot, of: object, key: key, source: sources.count - 1) }
      case .sequence(let tree): collect(tree, of: object)
      }
    }
    RadixOrder.sort(&found) { $0.id.sortKey }
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
    let first = found[low - 1].id, run = run(low - 1)
    guard run.object == object, first.actor == id.actor, id.counter - first.counter < run.count else { return false }
    switch run.kind {
    case .insertText: return true
    case .other: return log.others[Int(run.text)].isInsert
    case .deleteForward, .deleteBackward: return false
    }
  }

  /// How many runs will be found in an object, but for operations that are not runs.
  private func runCount(of object: StoredObject) -> Int {
    guard case .sequence(let tree) = object else { return 0 }
    var count = 0
    tree.forEachRun { run in count += run.isVisible ? 1 : 2 }
    return count
  }

  /// The operations at a place of `found`.
  private func run(_ place: Int) -> OpRun {
    let each = found[place], source = sources[Int(each.source)]
    guard let tree = source.tree else { return .other(object: source.object, index: Int(each.place)) }
    let run = tree.runs[Int(each.place)], count = Int(run.count)
    if run.id == each.id {
      return .insertion(
        object: source.object, behind: run.origin, count: count, text: run.textStart, byteCount: Int(run.utf8))
    }
    return run.step < 0
      ? .deletion(object: source.object, from: run.lastId, count: count, step: -1)
      : .deletion(object: source.object, from: run.id, count: count, step: 1)
  }

  /// How many operations are there.
  private func count(_ place: Int) -> Int {
    sources[Int(found[place].source)].tree.map { Int($0.runs[Int(found[place].place)].count) } ?? 1
  }

  private mutating func add(_ id: OpId, source: Int, place: Int, count: Int) {
    found.append(Found(id: id, source: UInt32(source), place: UInt32(place)))
    opCount += count
  }

  /// Collects the operations on a map's key (`key`) or on an irregular element, and their deletions.
  private mutating func collect(_ slot: Slot, of object: OpId, key: MapKey?, origin: OpId = .zero, source: Int) {
    func add(_ op: OtherOp, id: OpId) { self.add(id, source: source, place: log.keep(op), count: 1) }
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
  private mutating func collect(_ tree: TextTree, of object: OpId) {
    let others = sources.count - 1, runs = sources.count
    sources.append(Source(object: object, tree: tree))
    // What an element follows is nearly always a few runs before it.
    var recent = Array(repeating: TextRun(id: .zero, origin: .zero, text: 0, measure: .zero), count: 4), next = 0
    tree.forEachRun { run, place in
      if !run.origin.isZero, !recent.contains(where: { $0.contains(run.origin) }) {
        origins.append((run.origin, object))
      }
      recent[next & 3] = run
      next += 1
      if run.isIrregular {
        collect(tree.slots[Int(run.text)].slot, of: object, key: nil, origin: run.origin, source: others)
        return
      }
      let count = Int(run.count)
      add(run.id, source: runs, place: place, count: count)
      if !run.isVisible {
        let first = run.step < 0 ? run.deletion.advanced(by: 1 - count) : run.deletion
        add(first, source: runs, place: place, count: count)
      }
    }
  }

  /// Gives every change its operations: those of its actor after the actor's previous change, up to its own last one.
  mutating func distribute(_ changes: DocumentChanges) throws(LoadError) -> ChangeGraph {
    let graph = ChangeGraph()
    log.reserve(found.count)
    var cursors = cursors()
    for (place, stretch) in changes.stretches.enumerated() {
      guard Int(stretch.seq) == Int(graph.changeCount(of: stretch.actor)) + 1 else {
        throw .inconsistentDocument(.sequence)
      }
      let firstRow = Int(stretch.firstRow)
      let startOp = try takeOps(upTo: stretch.maxOp, of: stretch.actor, &cursors[Int(stretch.actor)])
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
        let startOp = try takeOps(upTo: maxOp, of: stretch.actor, &cursors[Int(stretch.actor)])
        if graph.appendToOwnHead(
          author: stretch.actor, startOp: startOp, opCount: maxOp + 1 - startOp, time: stretch.time)
        {
          guard maxOp + 1 - startOp == stretch.maxOpStep else { continue }
          let more = try takeAlike(
            left, step: stretch.maxOpStep, behind: maxOp, of: stretch.actor, &cursors[Int(stretch.actor)])
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
    guard usedCount == found.count else { throw .inconsistentDocument(.counters) }
    return graph
  }

  /// How far an actor's operations have been assigned.
  private struct Cursor {
    /// The place in `found` of the next operations; what is left of them there, nothing after the last; and the first of these.
    var place: Int
    var rest: OpRun?
    var id = OpId.zero
    /// The last operation that was assigned.
    var previous: UInt32 = 0
  }

  /// Before all operations of each actor.
  private func cursors() -> [Cursor] {
    var cursors = Array(repeating: Cursor(place: found.count), count: store.actors.count)
    for (place, each) in found.enumerated().reversed() { cursors[Int(each.id.actor)].place = place }
    for actor in cursors.indices { read(&cursors[actor], of: UInt32(actor)) }
    return cursors
  }

  /// Reads what is at the cursor's place.
  private func read(_ cursor: inout Cursor, of actor: UInt32) {
    guard cursor.place < found.count, found[cursor.place].id.actor == actor else {
      cursor.rest = nil
      return
    }
    (cursor.id, cursor.rest) = (found[cursor.place].id, run(cursor.place))
  }

  /// Writes the operations of up to `limit` changes of `step` operations each to the log, as far as they follow one
  /// another without a gap after `maxOp`. Returns the number of these changes.
  private mutating func takeAlike(
    _ limit: Int, step: UInt32, behind maxOp: UInt32, of author: UInt32, _ cursor: inout Cursor
  ) throws(LoadError) -> Int {
    let end = Int(maxOp) + limit * Int(step)
    var reach = Int(maxOp), place = cursor.place + 1
    if let rest = cursor.rest, Int(cursor.id.counter) == reach + 1 {
      reach += Int(rest.count)
      while reach < end, place < found.count, found[place].id.actor == author, Int(found[place].id.counter) == reach + 1
      {
        reach += count(place)
        place += 1
      }
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
    guard maxOp < .max else { throw .inconsistentDocument(.counters) }
    var startOp = maxOp + 1, counter = startOp, isFirst = true
    while var run = cursor.rest, cursor.id.counter <= maxOp {
      let id = cursor.id
      if isFirst {
        startOp = id.counter
        counter = startOp
        isFirst = false
      }
      guard id.counter == counter, startOp > cursor.previous else { throw .inconsistentDocument(.counters) }
      let room = maxOp - counter + 1
      if room < run.count {
        log.append(run.takePrefix(Int(room), id: id, text: store.bytes), id: id)
        (cursor.rest, cursor.id) = (run, id.advanced(by: Int(room)))
        counter += room
      } else {
        log.append(run, id: id)
        counter += run.count
        usedCount += 1
        cursor.place += 1
        read(&cursor, of: author)
      }
    }
    guard counter == maxOp + 1 else { throw .inconsistentDocument(.counters) }
    cursor.previous = maxOp
    return startOp
  }
}
