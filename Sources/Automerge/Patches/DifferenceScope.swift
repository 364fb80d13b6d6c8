/// Everything that some changes touch: the only places where states that differ by these changes can differ.
struct DifferenceScope {
  /// Elements with consecutive ids.
  struct Elements {
    let first: OpId
    let count: Int
  }

  private(set) var keys: [OpId: Set<MapKey>] = [:]
  private(set) var elements: [OpId: [Elements]] = [:]

  var objects: Set<OpId> { Set(keys.keys).union(elements.keys) }

  /// - Complexity: O(n) in the runs of the rows.
  init(rows: [Int], of core: DocumentCore) {
    for row in rows {
      core.log.forEachRun(in: core.graph.records[row].ops) { run, id in add(run, id: id, of: core.log) }
    }
  }

  private mutating func add(_ run: OpRun, id: OpId, of log: RunLog) {
    let count = Int(run.count)
    switch run.kind {
    case .insertText: elements[run.object, default: []].append(Elements(first: id, count: count))
    case .deleteForward: elements[run.object, default: []].append(Elements(first: run.target, count: count))
    case .deleteBackward:
      elements[run.object, default: []].append(Elements(first: run.target.advanced(by: 1 - count), count: count))
    case .other:
      let op = log.others[Int(run.text)]
      switch op.key {
      case .map(let key): keys[op.object, default: []].insert(key)
      case .element(let element):
        elements[op.object, default: []].append(Elements(first: op.isInsert ? id : element, count: 1))
      }
    }
  }
}

extension DifferenceScope {
  mutating func formUnion(_ other: DifferenceScope) {
    keys.merge(other.keys) { $0.union($1) }
    elements.merge(other.elements) { $0 + $1 }
  }

  /// Adds the places where the objects are, and those of the objects that contain them: a change there hides or
  /// replaces everything inside.
  func withSurroundings(in core: DocumentCore) -> DifferenceScope {
    core.lookups.parents.update(from: core)
    var scope = self
    for object in objects {
      var at = object
      while let place = core.lookups.parents[at] {
        switch place.key {
        case .map(let key):
          if !scope.keys[place.object, default: []].insert(key).inserted { break }
        case .element(let element):
          scope.elements[place.object, default: []].append(Elements(first: element, count: 1))
        }
        at = place.object
      }
    }
    return scope
  }

  /// Whether both touch the same key or element, or one text with marks, since a mark affects all elements between its
  /// ends.
  /// - Complexity: O(n log n) in what they touch.
  func meets(_ other: DifferenceScope, in core: DocumentCore) -> Bool {
    for (object, set) in other.keys {
      if let own = keys[object], !own.isDisjoint(with: set) { return true }
    }
    for (object, list) in other.elements {
      guard let own = elements[object] else { continue }
      if core.store.sequence(object)?.hasMarks ?? false || Self.meet(own, list) { return true }
    }
    return false
  }

  private static func meet(_ left: [Elements], _ right: [Elements]) -> Bool {
    let order = { (one: Elements, other: Elements) in
      (one.first.actor, one.first.counter) < (other.first.actor, other.first.counter)
    }
    let left = left.sorted(by: order), right = right.sorted(by: order)
    var at = 0, other = 0
    while at < left.count, other < right.count {
      let (one, two) = (left[at], right[other])
      if order(one, two) {
        if one.holds(two.first) { return true }
        at += 1
      } else {
        if two.holds(one.first) { return true }
        other += 1
      }
    }
    return false
  }
}

extension DifferenceScope.Elements {
  func holds(_ id: OpId) -> Bool {
    id.actor == first.actor && id.counter >= first.counter && Int(id.counter) < Int(first.counter) + count
  }
}

extension TextTree {
  /// The runs that contain some elements, in document order, each once; nil if there are so many that reading the whole
  /// sequence is cheaper.
  /// - Complexity: O(k log n) for k runs among n.
  func places(of ranges: [DifferenceScope.Elements]) -> [Place]? {
    let limit = leaves.count * Self.leafCapacity / 8 + 8
    var places: [UInt64: Place] = [:], looked = 0
    for range in ranges {
      var id = range.first, left = range.count
      while left > 0, let (place, element) = find(id) {
        looked += 1
        guard looked <= limit else { return nil }
        places[orderKey(of: place)] = place
        let passed = min(left, Int(self[place].count) - element)
        left -= passed
        guard left > 0 else { break }
        id = id.advanced(by: passed)
      }
    }
    return places.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Grows with the position in the sequence: the index of the child at every level of the tree, five bits each.
  private func orderKey(of place: Place) -> UInt64 {
    precondition(Self.leafCapacity <= 32 && Self.nodeCapacity <= 32, "five bits hold a child's number")
    var key = UInt64(place.run), shift: UInt64 = 5
    var child = place.leaf, parent = leaves[Int(place.leaf)].parent
    while parent != Self.none {
      let base = Int(parent) * Self.nodeCapacity
      var at = 0
      while children[base + at] != child { at += 1 }
      key |= UInt64(at) << shift
      shift += 5
      (child, parent) = (parent, nodes[Int(parent)].parent)
    }
    return key
  }
}
