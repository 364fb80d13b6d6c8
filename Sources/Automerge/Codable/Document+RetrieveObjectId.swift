/// Following a path of keys and indexes from the root.
extension Document {
  /// The object at `path`, or the container of the place at `path` if `containerType` is `.Value`. Makes what is
  /// missing on the way if `strategy` allows.
  func retrieveObjectId(
    path: [any CodingKey], containerType: EncodingContainerType, strategy: SchemaStrategy
  ) -> Result<ObjId, CodingKeyLookupError> {
    Result { () throws(CodingKeyLookupError) -> ObjId in
      let walk = try PathWalk(
        document: self, path: path.map { AnyCodingKey($0) }, to: containerType, strategy: strategy)
      return try walk.making()
    }
  }

  /// The value at a place; nil if the place is empty or the index past the end.
  func value(in object: ObjId, at step: AnyCodingKey) throws -> Value? {
    guard let index = step.index else { return try get(obj: object, key: step.stringValue) }
    guard index < length(obj: object) else { return nil }
    return try get(obj: object, index: index)
  }
}

extension AnyCodingKey {
  /// The full index of a list, which `intValue` may not be able to hold.
  var index: UInt64? { intValue.map { UInt64($0) } }

  /// The type of container that has such places.
  var containerType: ObjType { index == nil ? .Map : .List }
}

/// A path with the type of container that each step needs.
struct PathWalk {
  private let document: Document
  private let path: [AnyCodingKey]
  private let steps: [(key: AnyCodingKey, type: ObjType)]
  private let strategy: SchemaStrategy

  init(
    document: Document, path: [AnyCodingKey], to containerType: EncodingContainerType, strategy: SchemaStrategy
  ) throws(CodingKeyLookupError) {
    guard let first = path.first, let last = path.last else {
      guard containerType == .Key else { throw Self.rootIsAMap(containerType) }
      self.init(document: document, path: [], steps: [], strategy: strategy)
      return
    }
    guard first.index == nil else { throw Self.rootIsAMap(.Index) }
    var steps = zip(path, path.dropFirst()).map { (key: $0, type: $1.containerType) }
    switch containerType {
    case .Key: steps.append((last, .Map))
    case .Index: steps.append((last, .List))
    case .Value: break
    }
    self.init(document: document, path: path, steps: steps, strategy: strategy)
  }

  private init(
    document: Document, path: [AnyCodingKey], steps: [(key: AnyCodingKey, type: ObjType)], strategy: SchemaStrategy
  ) {
    (self.document, self.path, self.steps, self.strategy) = (document, path, steps, strategy)
  }

  private static func rootIsAMap(_ type: EncodingContainerType) -> CodingKeyLookupError {
    type == .Value
      ? .NoPathForSingleValue("the root is a map; put a single value at one of its keys")
      : .InvalidIndexLookup("the root is a map, which has no indexes")
  }

  /// The object at the end of the path; nil if it does not exist but could be made. Changes nothing.
  func existing() throws(CodingKeyLookupError) -> ObjId? {
    var object = ObjId.ROOT
    for depth in steps.indices {
      guard let next = try step(depth, from: object) else {
        try expectMakeable(below: depth)
        return nil
      }
      object = next
    }
    return object
  }

  /// The object at the end, made if needed.
  func making() throws(CodingKeyLookupError) -> ObjId {
    guard try existing() == nil else { return try existing() ?? .ROOT }
    var object = ObjId.ROOT
    for (depth, step) in steps.enumerated() {
      if let next = try self.step(depth, from: object) {
        object = next
      } else {
        do {
          object = try document.makeObject(step.type, in: object, at: step.key)
        } catch {
          throw .AutomergeDocError(error)
        }
      }
    }
    return object
  }

  /// The container at one step; nil if it does not exist yet.
  private func step(_ depth: Int, from object: ObjId) throws(CodingKeyLookupError) -> ObjId? {
    let (key, type) = steps[depth]
    let found: Value?
    do {
      found = try document.value(in: object, at: key)
    } catch {
      throw .AutomergeDocError(error)
    }
    switch found {
    case .Object(let next, type): return next
    case nil, .Scalar(.Null):
      if strategy == .readonly { throw .SchemaMissing("there is nothing at \(place(depth))") }
      if let index = key.index, index > document.length(obj: object) {
        throw tooFar(index, document.length(obj: object))
      }
      return nil
    case .Object(_, .Text):
      if strategy == .override { return nil }
      throw .PathExtendsThroughText("at \(place(depth)) there is a text, which contains no \(kind(type))")
    case .Object(_, let other):
      if strategy == .override { return nil }
      throw .MismatchedSchema("at \(place(depth)) there is a \(kind(other)), not a \(kind(type))")
    case .Scalar(let scalar):
      if strategy == .override { return nil }
      throw .PathExtendsThroughScalar("at \(place(depth)) there is \(scalar), not a \(kind(type))")
    }
  }

  /// A new list is empty, so a step into it can only be index 0.
  private func expectMakeable(below depth: Int) throws(CodingKeyLookupError) {
    for key in path.dropFirst(depth + 1) {
      if let index = key.index, index > 0 { throw tooFar(index, 0) }
    }
  }

  private func tooFar(_ index: UInt64, _ length: UInt64) -> CodingKeyLookupError {
    .pastTheEnd(index, of: path.stringPath(), length)
  }

  private func place(_ depth: Int) -> String { path.prefix(depth + 1).stringPath() }

  private func kind(_ type: ObjType) -> String {
    switch type {
    case .Map: "map"
    case .List: "list"
    case .Text: "text"
    }
  }
}

extension Document {
  /// Puts a new object at a place. An index that is the length of the list appends.
  func makeObject(_ type: ObjType, in object: ObjId, at step: AnyCodingKey) throws -> ObjId {
    guard let index = step.index else { return try putObject(obj: object, key: step.stringValue, ty: type) }
    if index < length(obj: object) { return try putObject(obj: object, index: index, ty: type) }
    return try insertObject(obj: object, index: index, ty: type)
  }

  /// Puts a single value at a place. An index that is the length of the list appends.
  func putScalar(_ value: ScalarValue, in object: ObjId, at step: AnyCodingKey) throws {
    guard let index = step.index else { return try put(obj: object, key: step.stringValue, value: value) }
    if index < length(obj: object) { return try put(obj: object, index: index, value: value) }
    try insert(obj: object, index: index, value: value)
  }

  func increment(in object: ObjId, at step: AnyCodingKey, by amount: Int64) throws {
    guard let index = step.index else { return try increment(obj: object, key: step.stringValue, by: amount) }
    try increment(obj: object, index: index, by: amount)
  }
}
