/// Reads and writes objects with their whole content at once.
extension Document {
  /// How many levels of nested objects are read or written. Values are built, compared and freed by recursion, which
  /// needs a limit; honest documents stay far below it.
  public static let valueDepthLimit = 512

  /// An object's present content. Throws `AutomergeValueError.nestedTooDeep`, or `DocError` if there is no such object.
  /// - Complexity: O(n log n) in the content.
  public func hydrate(obj: ObjId = .ROOT) throws -> AutomergeValue {
    try withCore { try $0.hydrate(obj, at: $0.view, depth: 0) }
  }

  /// Like `hydrate`, for the object as it was at `heads`. Unknown heads are ignored.
  public func hydrateAt(obj: ObjId = .ROOT, heads: Set<ChangeHash>) throws -> AutomergeValue {
    try withCore { try $0.hydrate(obj, at: $0.past(heads), depth: 0) }
  }

  /// Changes an object's content to a value of its type, with as few operations as possible, as `AutomergeEncoder` does
  /// it: what the value does not have is deleted.
  ///
  /// Throws `AutomergeValueError` if the value is of another type or too deep, and `DocError.invalidValue` if the format cannot hold
  /// it; then it has written nothing.
  public func updateObject(obj: ObjId, value: AutomergeValue) throws {
    try value.checkContent(at: obj)
    guard objectType(obj: obj) == value.objectType else {
      throw AutomergeValueError.otherType(obj, objectType(obj: obj))
    }
    try writer.write(EncodedNode(value, for: self), to: obj, objectType(obj: obj))
  }

  /// Puts a value at a key: a scalar, or a new object with all its content. Returns the object's id.
  @discardableResult
  public func put(obj: ObjId, key: String, value: AutomergeValue) throws -> ObjId? {
    try make(value, in: obj) { document, type in
      try document.putObject(obj: obj, key: key, ty: type)
    } scalar: { document, scalar in
      try document.put(obj: obj, key: key, value: scalar)
    }
  }

  /// Replaces an element by a value: a scalar, or a new object with all its content. Returns the object's id.
  @discardableResult
  public func put(obj: ObjId, index: UInt64, value: AutomergeValue) throws -> ObjId? {
    try make(value, in: obj) { document, type in
      try document.putObject(obj: obj, index: index, ty: type)
    } scalar: { document, scalar in
      try document.put(obj: obj, index: index, value: scalar)
    }
  }

  /// Inserts a value before the element at `index`: a scalar, or a new object with all its content. Returns the
  /// object's id.
  @discardableResult
  public func insert(obj: ObjId, index: UInt64, value: AutomergeValue) throws -> ObjId? {
    try make(value, in: obj) { document, type in
      try document.insertObject(obj: obj, index: index, ty: type)
    } scalar: { document, scalar in
      try document.insert(obj: obj, index: index, value: scalar)
    }
  }

  private func make(
    _ value: AutomergeValue, in obj: ObjId, object: (Document, ObjType) throws -> ObjId,
    scalar: (Document, ScalarValue) throws -> Void
  ) throws -> ObjId? {
    try value.checkContent(at: obj)
    guard let type = value.objectType else {
      if case .scalar(let value) = value { try scalar(self, value) }
      return nil
    }
    return try withoutOtherThreads {
      let made = try object(self, type)
      try writer.write(EncodedNode(value, for: self), to: made, type)
      return made
    }
  }

  private var writer: NodeWriter { NodeWriter(document: self, strategy: .override, isCautious: false) }
}

extension AutomergeValue {
  /// Nil for a single value.
  var objectType: ObjType? {
    switch self {
    case .dict: .Map
    case .array: .List
    case .text: .Text
    case .scalar: nil
    }
  }

  /// - Parameter object: the object that the error names.
  func checkContent(at object: ObjId, limit: Int = Document.valueDepthLimit) throws {
    guard limit > 0 else { throw AutomergeValueError.nestedTooDeep(object) }
    switch self {
    case .dict(let entries): for entry in entries.values { try entry.checkContent(at: object, limit: limit - 1) }
    case .array(let elements): for element in elements { try element.checkContent(at: object, limit: limit - 1) }
    case .scalar(let scalar): guard scalar.isStorable else { throw DocError.invalidValue }
    case .text: break
    }
  }
}

extension DocumentCore {
  func hydrate(_ object: ObjId, at clock: Clock, depth: Int) throws -> AutomergeValue {
    guard depth < Document.valueDepthLimit else { throw AutomergeValueError.nestedTooDeep(object) }
    func hydrated(_ value: Value) throws -> AutomergeValue {
      switch value {
      case .Scalar(let scalar): .scalar(scalar)
      case .Object(let child, _): try hydrate(child, at: clock, depth: depth + 1)
      }
    }
    guard let id = opId(object) else { throw DocError.unknownObject(object) }
    switch objectType(id) {
    case .Map:
      var entries: [String: AutomergeValue] = [:]
      for (key, value) in try mapEntries(object, at: clock) { entries[key] = try hydrated(value) }
      return .dict(entries)
    case .List: return .array(try values(object, at: clock).map(hydrated))
    case .Text:
      let tree = try text(object).tree
      return .text(clock.isNow ? string(of: tree) : String(decoding: tree.utf8(at: clock), as: UTF8.self))
    }
  }
}
