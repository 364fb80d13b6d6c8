/// Lists, and texts seen as sequences of values. In a text, an index is counted in the document's `textEncoding` and
/// means the element that covers it.
extension Document {
  /// Replaces an element. Makes no operation if the element has this value already.
  public func put(obj: ObjId, index: UInt64, value: ScalarValue) throws {
    try withCore { core in
      try core.put(obj, index: place(index), unit: core.unit(of: obj, textEncoding), value: value)
    }
  }

  /// Replaces an element by a new empty object.
  public func putObject(obj: ObjId, index: UInt64, ty: ObjType) throws -> ObjId {
    try withCore { core in
      try core.putObject(
        obj, index: place(index), unit: core.unit(of: obj, textEncoding), action: ty.makeAction)
    }
  }

  /// Inserts a value before the element at `index`; at the end if `index` is the length.
  public func insert(obj: ObjId, index: UInt64, value: ScalarValue) throws {
    try withCore { core in
      try core.splice(
        obj, at: place(index), unit: core.unit(of: obj, textEncoding), deleting: 0, inserting: [value])
    }
  }

  /// Inserts a new empty object before the element at `index`; at the end if `index` is the length.
  public func insertObject(obj: ObjId, index: UInt64, ty: ObjType) throws -> ObjId {
    try withCore { core in
      try core.insertObject(
        obj, at: place(index), unit: core.unit(of: obj, textEncoding), action: ty.makeAction)
    }
  }

  /// Deletes an element. Past the end of a text this does nothing; past the end of a list it is an error.
  public func delete(obj: ObjId, index: UInt64) throws {
    try withCore { core in
      try core.delete(obj, index: place(index), unit: core.unit(of: obj, textEncoding))
    }
  }

  /// Adds to a counter. Throws `DocError.notACounter` if there is none.
  public func increment(obj: ObjId, key: String, by: Int64) throws {
    try withCore { try $0.increment(obj, key: key, by: by) }
  }

  /// Adds to a counter. Throws `DocError.notACounter` if there is none.
  public func increment(obj: ObjId, index: UInt64, by: Int64) throws {
    try withCore { core in
      try core.increment(obj, index: place(index), unit: core.unit(of: obj, textEncoding), by: by)
    }
  }

  /// Inserts `values` at `start` and deletes up to `delete` elements after them. A negative `delete` deletes before
  /// `start`.
  public func splice(obj: ObjId, start: UInt64, delete: Int64, values: [ScalarValue]) throws {
    try withCore { core in
      guard let count = Int(exactly: delete.magnitude) else { throw DocError.outOfBounds(start) }
      var first = try place(start)
      if delete < 0 {
        guard count <= first else { throw DocError.outOfBounds(start) }
        first -= count
      }
      try core.splice(
        obj, at: first, unit: core.unit(of: obj, textEncoding), deleting: count, inserting: values)
    }
  }

  /// The value that won at an index; nil past the end.
  public func get(obj: ObjId, index: UInt64) throws -> Value? {
    try withCore { core in
      guard let slot = try core.slot(obj, index, textEncoding) else { return nil }
      return slot.winner(at: core.view).map { core.value(of: $0, in: slot, at: core.view) }
    }
  }

  /// All values at an index that were put there concurrently.
  public func getAll(obj: ObjId, index: UInt64) throws -> Set<Value> {
    try withCore { core in
      guard let slot = try core.slot(obj, index, textEncoding) else { return [] }
      return Set(slot.visible(at: core.view).map { core.value(of: $0, in: slot, at: core.view) })
    }
  }

  /// The values of a map in the order of its keys, or the elements of a list or text.
  /// - Complexity: O(n) in the elements.
  public func values(obj: ObjId) throws -> [Value] {
    try withCore { try $0.values(obj, at: $0.view) }
  }

  /// The keys of a map with the values that won there, in the order of the keys' UTF-8.
  public func mapEntries(obj: ObjId) throws -> [(String, Value)] {
    try withCore { try $0.mapEntries(obj, at: $0.view) }
  }

  private func place(_ index: UInt64) throws(DocError) -> Int {
    guard let place = Int(exactly: index) else { throw .outOfBounds(index) }
    return place
  }
}

extension DocumentCore {
  func object(_ object: ObjId) throws(DocError) -> StoredObject {
    guard let id = opId(object), let stored = store[id] else { throw .unknownObject(object) }
    return stored
  }

  /// What an index into an object counts: a list's elements, or a text's units.
  func unit(of object: ObjId, _ encoding: TextEncoding) throws(DocError) -> TextUnit {
    let (id, _) = try sequence(object)
    return store.type(of: id) == .makeText ? encoding.unit : .elements
  }

  /// The slot of the visible element at an index; nil past the end.
  func slot(_ object: ObjId, _ index: UInt64, _ encoding: TextEncoding) throws(DocError) -> Slot? {
    if isolation != nil { return try slot(object, index, encoding, at: view) }
    let unit = try unit(of: object, encoding), tree = try sequence(object).tree
    guard index < UInt64(tree.total[unit]) else { return nil }
    return try element(tree, at: Int(index), unit).slot
  }
}
