/// Maps, and what is common to all objects.
extension Document {
  /// Puts a value at a key. A value that stands there already makes no operation.
  public func put(obj: ObjId, key: String, value: ScalarValue) throws {
    try withCore { try $0.put(obj, key: key, value: value) }
  }

  /// Puts a new empty object at a key.
  public func putObject(obj: ObjId, key: String, ty: ObjType) throws -> ObjId {
    try withCore { try $0.putObject(obj, key: key, action: ty.makeAction) }
  }

  /// Deletes a key. One that is not there makes no operation.
  public func delete(obj: ObjId, key: String) throws {
    try withCore { try $0.delete(obj, key: key) }
  }

  /// The value that won at a key; nil if there is none.
  public func get(obj: ObjId, key: String) throws -> Value? {
    try withCore { core in
      let slot = try core.map(obj).map[MapKey(key)]
      return slot.winner().map { core.value(of: $0, in: slot) }
    }
  }

  /// All values that stand at a key because they were put there concurrently.
  public func getAll(obj: ObjId, key: String) throws -> Set<Value> {
    try withCore { core in
      let slot = try core.map(obj).map[MapKey(key)]
      return Set(slot.visible().map { core.value(of: $0, in: slot) })
    }
  }

  /// The keys that have a value, in the order of their UTF-8. None in what is not a map of this document.
  public func keys(obj: ObjId) -> [String] {
    withCore { core in core.opId(obj).flatMap { core.store.map($0) }?.keys().map(\.string) ?? [] }
  }

  /// What kind of object it is; an object that this document does not have counts as an empty map.
  public func objectType(obj: ObjId) -> ObjType {
    withCore { core in core.opId(obj).map { core.objectType($0) } ?? .Map }
  }

  /// How many keys a map has, elements a list, or units of `textEncoding` a text. 0 if there is no such object.
  public func length(obj: ObjId) -> UInt64 {
    withCore { core in
      guard let id = core.opId(obj) else { return 0 }
      switch core.store[id] {
      case .map(let map): return UInt64(map.keys().count)
      case .sequence(let tree):
        guard core.store.type(of: id) == .makeText else { return UInt64(tree.total.elements) }
        return UInt64(tree.total[textEncoding.unit])
      case nil: return 0
      }
    }
  }
}
