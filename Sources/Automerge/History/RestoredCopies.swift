/// What reverting a change restored. Deleted elements and objects do not come back themselves; copies of them do.
struct RestoredCopies {
  /// Elements with consecutive ids, and their copies, whose ids are consecutive too.
  struct Elements {
    let object: OpId
    let original: OpId
    let copy: OpId
    let count: Int

    func copy(of element: OpId) -> OpId? {
      element.offset(from: original, count: count).map { copy.advanced(by: $0) }
    }

    func original(of element: OpId) -> OpId? {
      element.offset(from: copy, count: count).map { original.advanced(by: $0) }
    }
  }

  struct Entry {
    let object: OpId
    let key: MapKey
    /// The operation that restored the value.
    let copy: OpId
  }

  private(set) var elements: [Elements] = []
  private(set) var entries: [Entry] = []
  /// The objects that were made again.
  private(set) var objects: Set<OpId> = []

  mutating func add(_ piece: Elements) { elements.append(piece) }

  mutating func add(_ entry: Entry) { entries.append(entry) }

  mutating func add(object: OpId) { objects.insert(object) }
}

/// What an undo does not restore, because a copy of it was deleted or replaced.
///
/// An earlier undo may have restored something as a copy. Reverting an even earlier change excludes that undo, so the
/// original is visible again; what happened to the copy must then happen to the original.
struct GoneWithCopies {
  private(set) var elements: Set<OpId> = []
  private(set) var keys: [OpId: Set<MapKey>] = [:]

  init() {}

  /// - Parameters:
  ///   - rows: the changes that are excluded
  ///   - history: what they and others restored
  ///   - after: the state without the changes
  /// - Complexity: O(n log m) in the copies that `rows` made and the runs of the sequences.
  init(without rows: [Int], history: UndoHistory, in core: DocumentCore, after: Clock) {
    var open: [OpId] = []
    for row in rows {
      guard let made = history.copies[row] else { continue }
      for piece in made.elements { open += Self.overruled(piece, in: core, after: after) }
      for entry in made.entries {
        guard let slot = core.store.map(entry.object)?[entry.key], slot.isOverruled(entry.copy, at: after, core.actors)
        else {
          continue
        }
        keys[entry.object, default: []].insert(entry.key)
      }
    }
    // All copies of one another.
    while let id = open.popLast() {
      if elements.insert(id).inserted { open += history.pieces.twins(of: id) }
    }
  }

  /// The copies that were overwritten or deleted later.
  private static func overruled(
    _ piece: RestoredCopies.Elements, in core: DocumentCore, after: Clock
  ) -> [OpId] {
    guard let tree = core.store.sequence(piece.object) else { return [] }
    var overruled: [OpId] = [], passed = 0
    while passed < piece.count, let (place, element) = tree.find(piece.copy.advanced(by: passed)) {
      let run = tree[place], count = min(Int(run.count) - element, piece.count - passed)
      if run.isIrregular {
        if tree.slots[Int(run.text)].slot.isOverruled(run.id, at: after, tree.actors) { overruled.append(run.id) }
      } else if !run.deletion.isZero {
        for each in element..<element + count where after.covers(run.deletion(of: each)) {
          overruled.append(run.id.advanced(by: each))
        }
      }
      passed += count
    }
    return overruled
  }
}

extension Slot {
  /// Whether at some state an operation outside of it came after this operation, apart from increments.
  fileprivate func isOverruled(_ id: OpId, at clock: Clock, _ actors: ActorTable) -> Bool {
    self[id, actors]?.successors.contains { clock.covers($0) && self[$0, actors]?.action != .increment } ?? false
  }
}

extension OpId {
  /// The offset of this id among `count` consecutive ids; nil if it is none of them.
  fileprivate func offset(from first: OpId, count: Int) -> Int? {
    guard actor == first.actor, counter >= first.counter, Int(counter - first.counter) < count else { return nil }
    return Int(counter - first.counter)
  }
}

extension RestoredCopies {
  /// Whether others changed copies in ways that a later undo cannot preserve: inside an object that was made again, or
  /// by incrementing a counter that was.
  /// - Complexity: O(n) in the runs of the changes since.
  func areChangedByOthers(in core: DocumentCore, since row: Int) -> Bool {
    guard !objects.isEmpty || !elements.isEmpty || !entries.isEmpty else { return false }
    let own = core.actors.find(core.actor)
    core.lookups.parents.update(from: core)
    var whereabouts = Whereabouts(core, at: .now, isNow: true, encoding: .unicodeScalar)
    for later in row + 1..<max(row + 1, core.graph.count) where core.graph.records[later].actor != own {
      for run in core.log.runs(in: core.graph.records[later].ops) {
        if objects.contains(run.object), whereabouts.isInView(run.object) { return true }
        guard run.kind == .other, core.log.others[Int(run.text)].action == .increment else { continue }
        switch core.log.others[Int(run.text)].key {
        case .map(let key):
          if entries.contains(where: { $0.object == run.object && $0.key == key }) { return true }
        case .element(let element):
          if elements.contains(where: { element.offset(from: $0.copy, count: $0.count) != nil }) { return true }
        }
      }
    }
    return false
  }
}
