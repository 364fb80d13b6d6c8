/// Changes a document to what was encoded: first checks that this is possible, then writes the differences. Other
/// threads that use the document wait meanwhile.
struct NodeWriter {
  let document: Document
  let strategy: SchemaStrategy
  /// Whether a value may not replace one of another type.
  let isCautious: Bool

  /// Writes at a place. The empty path is the root, which can only be a map.
  func write(_ node: EncodedNode, at path: [AnyCodingKey]) throws {
    try document.withoutOtherThreads { try writeUninterrupted(node, at: path) }
  }

  private func writeUninterrupted(_ node: EncodedNode, at path: [AnyCodingKey]) throws {
    guard let last = path.last else { return try writeRoot(node) }
    let walk = try PathWalk(document: document, path: path, to: .Value, strategy: strategy)
    let known = try walk.existing()
    let existing = try known.flatMap { try document.present(in: $0, at: last) }
    if let index = last.index, existing == nil {
      let length = known.map { document.length(obj: $0) } ?? 0
      guard index <= length else {
        throw CodingKeyLookupError.pastTheEnd(index, of: path.stringPath(), length)
      }
    }
    try check(node, against: existing)
    try update(existing, to: node, in: try walk.making(), at: last)
  }

  private func writeRoot(_ node: EncodedNode) throws {
    switch node.content {
    case .nothing: node.becomeMap()
    case .map: break
    case .list: throw CodingKeyLookupError.InvalidIndexLookup("the root is a map; put a list at one of its keys")
    case .scalar, .text, .counter:
      throw CodingKeyLookupError.NoPathForSingleValue("the root is a map; put a single value at one of its keys")
    }
    try write(node, to: .ROOT, .Map)
  }

  /// Changes an object to what was encoded, which is of the object's type.
  func write(_ node: EncodedNode, to object: ObjId, _ type: ObjType) throws {
    try document.withoutOtherThreads {
      try check(node, against: PresentValue(value: .Object(object, type), isInConflict: false, element: nil))
      switch node.content {
      case .map, .nothing: try updateMap(object, to: node)
      case .list: try updateList(object, to: node)
      case .text(let text, let string): try text.write(string, to: document, object: object)
      case .scalar, .counter: preconditionFailure("a single value is not an object")
      }
    }
  }

  // MARK: writing

  /// Changes a place to what was encoded. `existing` is its present value.
  private func update(
    _ existing: PresentValue?, to node: EncodedNode, in object: ObjId, at step: AnyCodingKey
  ) throws {
    switch node.content {
    case .scalar(let value):
      // Writing a value over an equal one makes an operation only if there is a conflict, which this resolves.
      if let existing, !existing.isInConflict, case .Scalar(let present) = existing.value,
        RawValue(present) == RawValue(value)
      {
        return
      }
      try document.putScalar(value, in: object, at: step)
    case .counter(let counter, let number): try update(existing, to: counter, number, in: object, at: step)
    case .text(let text, let string):
      if let bound = text.object(in: document), existing?.value == .Object(bound, .Text) { return }
      let target = try container(.Text, existing, in: object, at: step)
      try text.write(string, to: document, object: target)
    case .map, .nothing: try updateMap(container(.Map, existing, in: object, at: step), to: node)
    case .list: try updateList(container(.List, existing, in: object, at: step), to: node)
    }
  }

  private func container(
    _ type: ObjType, _ existing: PresentValue?, in object: ObjId, at step: AnyCodingKey
  ) throws -> ObjId {
    if case .Object(let present, type)? = existing?.value { return present }
    return try document.makeObject(type, in: object, at: step)
  }

  private func update(
    _ existing: PresentValue?, to counter: Counter, _ number: Int, in object: ObjId, at step: AnyCodingKey
  ) throws {
    if let bound = counter.place(in: document), bound == (try document.place(in: object, at: step)),
      document.counter(at: bound) != nil
    {
      return
    }
    let wanted = Int64(number)
    if case .Scalar(.Counter(let present))? = existing?.value {
      let (difference, overflows) = wanted.subtractingReportingOverflow(present)
      if overflows {
        try document.putScalar(.Counter(wanted), in: object, at: step)
      } else if difference != 0 {
        try document.increment(in: object, at: step, by: difference)
      }
    } else {
      try document.putScalar(.Counter(wanted), in: object, at: step)
    }
    try bind(counter, number, in: object, at: step)
  }

  private func bind(_ counter: Counter, _ number: Int, in object: ObjId, at step: AnyCodingKey) throws {
    guard let place = try document.place(in: object, at: step) else { return }
    try counter.bindUnbound(to: document, place, holding: number)
  }

  private func updateMap(_ object: ObjId, to node: EncodedNode) throws {
    guard case .map(let children) = node.content else {
      for key in document.keys(obj: object) { try document.delete(obj: object, key: key) }
      return
    }
    for (key, child) in children.sorted(by: { $0.key < $1.key }) {
      let step = AnyCodingKey(key.string)
      try update(document.present(in: object, at: step), to: child, in: object, at: step)
    }
    for key in document.keys(obj: object) where children[MapKey(key)] == nil {
      try document.delete(obj: object, key: key)
    }
  }

  private func updateList(_ object: ObjId, to node: EncodedNode) throws {
    guard case .list(let children) = node.content else { return }
    let present = try document.presentElements(obj: object)
    var index: UInt64 = 0
    var inserted: [ScalarValue] = []
    func insertCollected() throws {
      guard !inserted.isEmpty else { return }
      try document.splice(obj: object, start: index, delete: 0, values: inserted)
      index += UInt64(inserted.count)
      inserted = []
    }
    for step in try steps(from: present, to: children, of: object) {
      if case .insert(let new) = step, case .scalar(let value) = children[new].content {
        inserted.append(value)
        continue
      }
      try insertCollected()
      switch step {
      case .keep(let old, let new):
        try update(present[old], to: children[new], in: object, at: AnyCodingKey(index))
        index += 1
      case .delete: try document.delete(obj: object, index: index)
      case .insert(let new):
        try insert(children[new], in: object, at: index)
        index += 1
      }
    }
    try insertCollected()
  }

  private func insert(_ node: EncodedNode, in object: ObjId, at index: UInt64) throws {
    func make(_ type: ObjType) throws -> ObjId { try document.insertObject(obj: object, index: index, ty: type) }
    switch node.content {
    case .scalar(let value): try document.insert(obj: object, index: index, value: value)
    case .counter(let counter, let number):
      try document.insert(obj: object, index: index, value: .Counter(Int64(number)))
      try bind(counter, number, in: object, at: AnyCodingKey(index))
    case .text(let text, let string): try text.write(string, to: document, object: try make(.Text))
    case .map, .nothing: try updateMap(try make(.Map), to: node)
    case .list: try updateList(try make(.List), to: node)
    }
  }

  /// How the elements of a list become the encoded ones.
  func steps(from present: [PresentValue], to children: [EncodedNode], of list: ObjId?) throws -> [ListStep] {
    var anchors: Set<ContentSignature.Anchor> = []
    let new = children.map { ContentSignature($0, of: list, anchors: &anchors) }
    let old = try present.map { try ContentSignature($0, in: document, anchors: anchors) }
    var numbers: [ContentSignature: Int] = [:]
    func number(_ signature: ContentSignature) -> Int {
      let next = numbers.count
      return numbers[signature, default: next, insertingIfAbsent: next]
    }
    return ListAlignment.steps(from: old.map(number), to: new.map(number))
  }
}

extension Dictionary {
  /// The value of a key. Inserts `value` if the key has none.
  fileprivate subscript(key: Key, default unused: Value, insertingIfAbsent value: Value) -> Value {
    mutating get {
      if let present = self[key] { return present }
      self[key] = value
      return value
    }
  }
}
