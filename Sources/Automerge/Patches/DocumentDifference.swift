/// Finds the patches that lead from one state of a document to another.
///
/// Examines only what the changes between the two touch, and what becomes visible by them.
struct DocumentDifference {
  private let core: DocumentCore
  private let before: Clock
  private let after: Clock
  /// Whether the new state is the present one.
  private let isToNow: Bool
  private let encoding: TextEncoding
  private let scope: DifferenceScope
  private var whereabouts: Whereabouts
  private var whereaboutsBefore: Whereabouts
  /// Objects that have become visible.
  private var exposed: Set<OpId> = []
  private var found: [(object: OpId, actions: [PatchAction], origins: [Int: PatchWriter.Origin])] = []
  /// Whether the difference is meant to be applied, not reported.
  private let isToBeDone: Bool
  private let gone: GoneWithCopies

  /// The states are given by the rows of their heads. The document must have no pending transaction.
  init(_ core: DocumentCore, from old: [Int], to new: [Int], encoding: TextEncoding) {
    (self.core, self.encoding, isToBeDone, gone) = (core, encoding, false, GoneWithCopies())
    isToNow = Set(new) == Set(core.graph.heads.map(Int.init))
    before = core.graph.clock(of: old)
    after = isToNow ? .now : core.graph.clock(of: new)
    // Changes that are in both states or in neither make no difference.
    let outsideOld = Set(core.graph.rows(notAncestorsOf: old))
    let rows = isToNow ? outsideOld : outsideOld.symmetricDifference(core.graph.rows(notAncestorsOf: new))
    scope = DifferenceScope(rows: rows.sorted(), of: core)
    if !rows.isEmpty { core.lookups.parents.update(from: core) }
    whereabouts = Whereabouts(core, at: after, isNow: isToNow, encoding: encoding)
    whereaboutsBefore = Whereabouts(core, at: before, isNow: false, encoding: encoding)
  }

  /// The difference from the present state to the same state without some operations of one actor, which are given by
  /// ascending ranges of their counters, and the rows that contain them. Texts are counted in Unicode scalars. `history`
  /// knows what changes restored.
  init(
    _ core: DocumentCore, without counters: [ClosedRange<UInt32>], of actor: UInt32, rows: [Int],
    history: UndoHistory
  ) {
    (self.core, encoding, isToNow, isToBeDone, before) = (core, .unicodeScalar, false, true, .now)
    after = Clock.now.without(counters, of: actor)
    scope = DifferenceScope(rows: rows, of: core)
    gone = GoneWithCopies(without: rows, history: history, in: core, after: after)
    core.lookups.parents.update(from: core)
    whereabouts = Whereabouts(core, at: after, isNow: false, encoding: encoding)
    whereaboutsBefore = Whereabouts(core, at: before, isNow: true, encoding: encoding)
  }

  mutating func patches() -> [Patch] {
    find()
    var patches: [Patch] = []
    for (object, actions, _) in found where !actions.isEmpty {
      guard let path = whereabouts.path(of: object) else { continue }
      patches += actions.map { Patch(action: $0, path: path) }
    }
    return patches
  }

  /// The patches of one object, and of those inside it.
  mutating func patches(of target: OpId, isRecursive: Bool) -> [Patch] {
    core.lookups.parents.update(from: core)
    let way = Set(core.way(to: target))
    var content = ObjectContent(of: target, in: core)
    // A change to an object that contains this one may make it visible.
    find { object in way.contains(object) || isRecursive && content.contains(object) }
    var patches: [Patch] = []
    for (object, actions, _) in found where object == target || isRecursive && content.contains(object) {
      guard !actions.isEmpty, let path = whereabouts.path(of: object) else { continue }
      patches += actions.map { Patch(action: $0, path: path) }
    }
    return patches
  }

  /// The steps to apply; for insertions of content that existed before, with the original elements.
  mutating func steps() -> [(action: PatchAction, origin: PatchWriter.Origin?)] {
    find()
    return found.flatMap { _, actions, origins in
      actions.enumerated().map { (action: $1, origin: origins[$0]) }
    }
  }

  private mutating func find(where isWanted: (OpId) -> Bool = { _ in true }) {
    // Containers come first, so that nothing is compared that is written as a whole.
    for object in scope.objects.sorted(by: { core.actors.precedes($0, $1) }) {
      guard !exposed.contains(object), isWanted(object), whereabouts.isInView(object),
        whereaboutsBefore.isInView(object)
      else { continue }
      compare(object, where: isWanted)
    }
    found.sort { core.actors.precedes($0.object, $1.object) }
  }

  /// Compares an object that is visible in both states, and writes the wanted objects in it that have become visible.
  private mutating func compare(_ object: OpId, where isWanted: (OpId) -> Bool) {
    var open: [OpId] = []
    switch core.store[object] {
    case .map(let map)?:
      let keys = (scope.keys[object] ?? []).sorted()
      compare(object, keys.lazy.map { ($0, map[$0]) }, from: before, &open)
    case .sequence(let tree)?:
      var places: [TextTree.Place]?
      if isToNow, !tree.hasMarks {
        places = tree.places(of: scope.elements[object] ?? [])
      }
      compare(object, tree, at: places, from: before, &open)
    case nil: return
    }
    while let next = open.popLast() {
      guard isWanted(next), exposed.insert(next).inserted else { continue }
      switch core.store[next] {
      case .map(let map)?: compare(next, map.sortedSlots, from: .nothing, &open)
      case .sequence(let tree)?: compare(next, tree, at: nil, from: .nothing, &open)
      case nil: break
      }
    }
  }

  private mutating func compare(
    _ object: OpId, _ slots: some Sequence<(key: MapKey, slot: Slot)>, from before: Clock, _ open: inout [OpId]
  ) {
    let id = core.objId(object)
    var actions: [PatchAction] = []
    for (key, slot) in slots {
      let prop = Prop.Key(key.string)
      switch SlotDifference(slot, before, after, core.actors) {
      case .nothing: break
      case .went: actions.append(.DeleteMap(id, key.string))
      case .came where gone.keys[object]?.contains(key) ?? false: break
      case .came(let now), .replaced(_, by: let now):
        if now.op.action.makesObject { open.append(now.op.id) }
        actions.append(.Put(id, prop, core.value(of: now)))
      case .stayed(_, let becameConflict, let growth):
        if becameConflict { actions.append(.Conflict(id, prop)) }
        if growth != 0 { actions.append(.Increment(id, prop, growth)) }
      }
    }
    found.append((object, actions, [:]))
  }

  private mutating func compare(
    _ object: OpId, _ tree: TextTree, at places: [TextTree.Place]?, from before: Clock, _ open: inout [OpId]
  ) {
    let unit: TextUnit = core.store.type(of: object) == .makeText ? encoding.unit : .elements
    var walk = SequenceWalk(core, tree, object, unit: unit, from: before, to: after)
    walk.isTellingOrigins = isToBeDone
    walk.gone = gone.elements
    let actions: [PatchAction]
    if let places { actions = walk.walk(places) } else { actions = walk.walk() }
    open += walk.exposed
    found.append((object, actions, walk.writer.origins))
  }
}

/// The objects that are in an object, at whatever depth. Each is looked up once.
private struct ObjectContent {
  private let core: DocumentCore
  private var known: [OpId: Bool]

  /// The parents must be up to date.
  init(of object: OpId, in core: DocumentCore) { (self.core, known) = (core, [object: true]) }

  mutating func contains(_ object: OpId) -> Bool {
    var climbed: [OpId] = [], at = object
    while known[at] == nil {
      climbed.append(at)
      guard let place = core.lookups.parents[at] else { break }
      at = place.object
    }
    let answer = known[at] ?? false
    for each in climbed { known[each] = answer }
    return answer
  }
}

extension DocumentCore {
  /// An object and those that contain it. The parents must be up to date.
  fileprivate func way(to object: OpId) -> [OpId] {
    var way = [object]
    while let place = lookups.parents[way[way.count - 1]] { way.append(place.object) }
    return way
  }

  /// The patches from one state to another. States are given by the rows of their heads.
  func patches(from old: [Int], to new: [Int], encoding: TextEncoding) -> [Patch] {
    var difference = DocumentDifference(self, from: old, to: new, encoding: encoding)
    return difference.patches()
  }

  /// The patches since the state whose heads are these rows.
  func patches(since old: [UInt32], encoding: TextEncoding) -> [Patch] {
    patches(from: old.map(Int.init), to: graph.heads.map(Int.init), encoding: encoding)
  }
}
