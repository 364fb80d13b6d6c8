/// Maps, and what all objects have in common.
extension Document {
  /// Puts a value at a key. Makes no operation if the key has this value already.
  public func put(obj: ObjId, key: String, value: ScalarValue) throws {
    try withCore { try $0.put(obj, key: key, value: value) }
  }

  /// Puts a new empty object at a key.
  public func putObject(obj: ObjId, key: String, ty: ObjType) throws -> ObjId {
    try withCore { try $0.putObject(obj, key: key, action: ty.makeAction) }
  }

  /// Deletes a key. Makes no operation if the key does not exist.
  public func delete(obj: ObjId, key: String) throws { try withCore { try $0.delete(obj, key: key) } }

  /// The value that won at a key; nil if there is none.
  public func get(obj: ObjId, key: String) throws -> Value? {
    try withCore { core in
      let slot = try core.map(obj).map[MapKey(key)]
      return slot.winner(at: core.view).map { core.value(of: $0, in: slot, at: core.view) }
    }
  }

  /// All values at a key that were put there concurrently.
  public func getAll(obj: ObjId, key: String) throws -> Set<Value> {
    try withCore { core in
      let slot = try core.map(obj).map[MapKey(key)]
      return Set(slot.visible(at: core.view).map { core.value(of: $0, in: slot, at: core.view) })
    }
  }

  /// The keys that have a value, in the order of their UTF-8. Empty if `obj` is not a map of this document.
  public func keys(obj: ObjId) -> [String] {
    withCore { core in core.opId(obj).flatMap { core.store.map($0) }?.keys(at: core.view).map(\.string) ?? [] }
  }

  /// The type of an object. An object that this document does not have counts as an empty map.
  public func objectType(obj: ObjId) -> ObjType {
    withCore { core in core.opId(obj).map { core.objectType($0) } ?? .Map }
  }

  /// The number of a map's keys, a list's elements, or a text's units in `textEncoding`. 0 if there is no such object.
  public func length(obj: ObjId) -> UInt64 {
    withCore { $0.length(obj, at: $0.view, textEncoding) }
  }
}
