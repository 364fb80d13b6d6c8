/// Where the objects of a document are in one state, and whether they can be reached from the root.
struct Whereabouts {
  private let core: DocumentCore
  private let clock: Clock
  private let isNow: Bool
  private let encoding: TextEncoding
  private var known: [OpId: Bool] = [.zero: true]
  /// How many objects contain an object.
  private var depths: [OpId: Int] = [.zero: 0]
  /// For sequences in the past, the indexes of the objects in them.
  private var indexes: [OpId: [OpId: Int]] = [:]

  init(_ core: DocumentCore, at clock: Clock, isNow: Bool, encoding: TextEncoding) {
    (self.core, self.clock, self.isNow, self.encoding) = (core, clock, isNow, encoding)
  }

  /// Whether the object can be reached from the root through values that have won.
  mutating func isInView(_ object: OpId) -> Bool {
    var climbed: [OpId] = [], at = object
    while known[at] == nil {
      guard let place = core.lookups.parents[at], slot(place)?.winner(at: clock)?.id == at else {
        known[at] = false
        break
      }
      climbed.append(at)
      at = place.object
    }
    let answer = known[at] ?? false
    for each in climbed { known[each] = answer }
    return answer
  }

  /// Whether an object, or one that contains it, was deleted or replaced, and not only lost to a value that was put
  /// concurrently.
  func isGone(_ object: OpId) -> Bool {
    var at = object
    while let place = core.lookups.parents[at] {
      guard slot(place)?.visible(at: clock).contains(where: { $0.id == at }) ?? false else { return true }
      at = place.object
    }
    return !at.isZero
  }

  private func slot(_ place: ObjectParents.Place) -> Slot? {
    switch place.key {
    case .map(let key): return core.store.map(place.object)?[key]
    case .element(let element):
      guard let tree = core.store.sequence(place.object), let found = tree.find(element) else { return nil }
      let run = tree[found.place]
      return run.isIrregular ? tree.slots[Int(run.text)].slot : nil
    }
  }

  /// The path from the root to a visible object; nil if the object is nested deeper than `Document.valueDepthLimit`, since
  /// the paths of all objects in a row take memory that grows with its square.
  mutating func path(of object: OpId) -> [PathElement]? {
    guard depth(of: object) <= Document.valueDepthLimit else { return nil }
    var path: [PathElement] = [], at = object
    while let place = core.lookups.parents[at] {
      let prop: Prop
      switch place.key {
      case .map(let key): prop = .Key(key.string)
      case .element(let element): prop = .Index(UInt64(index(of: element, in: place.object)))
      }
      path.append(PathElement(obj: core.objId(place.object), prop: prop))
      at = place.object
    }
    return path.reversed()
  }

  private mutating func depth(of object: OpId) -> Int {
    var climbed: [OpId] = [], at = object
    while depths[at] == nil, let place = core.lookups.parents[at] {
      climbed.append(at)
      at = place.object
    }
    var depth = depths[at] ?? 0
    for each in climbed.reversed() {
      depth += 1
      depths[each] = depth
    }
    return depth
  }

  private mutating func index(of element: OpId, in object: OpId) -> Int {
    guard let tree = core.store.sequence(object) else { return 0 }
    let unit = core.store.type(of: object) == .makeText ? encoding.unit : .elements
    if isNow, let found = tree.find(element) { return tree.start(of: found.place)[unit] }
    if indexes[object] == nil { indexes[object] = tree.indexesOfObjects(at: clock, unit) }
    return indexes[object]?[element] ?? 0
  }
}

extension TextTree {
  /// The indexes of the irregular elements at a past state.
  fileprivate func indexesOfObjects(at clock: Clock, _ unit: TextUnit) -> [OpId: Int] {
    var indexes: [OpId: Int] = [:], index = 0
    forEachStretch(at: clock) { stretch in
      if case .irregular(let slot, _) = stretch, let element = slot.first?.id { indexes[element] = index }
      index += sums(of: stretch)[unit]
      return true
    }
    return indexes
  }
}
