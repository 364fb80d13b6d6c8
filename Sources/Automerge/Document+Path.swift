extension Document {
  /// The path from the root to an object: for each step an object, and the place of the next one in it. Empty for the
  /// root. For an object that was deleted or replaced, the path to where it was. Throws `DocError.unknownObject`.
  /// - Complexity: O(d log n), d the depth; the first time after edits also O(m) in the runs of their operations.
  public func path(obj: ObjId) throws -> [PathElement] {
    try withCore { core in
      guard let id = core.opId(obj) else { throw DocError.unknownObject(obj) }
      core.lookups.parents.update(from: core)
      var path: [PathElement] = [], at = id
      while let place = core.lookups.parents[at] {
        let prop: Prop =
          switch place.key {
          case .map(let key): .Key(key.string)
          case .element(let element): .Index(core.store.index(of: element, in: place.object, textEncoding))
          }
        path.append(PathElement(obj: core.objId(place.object), prop: prop))
        at = place.object
      }
      return path.reversed()
    }
  }
}

extension ObjectStore {
  /// The present index of an element. If it is deleted, the index of what comes after it.
  fileprivate func index(of element: OpId, in object: OpId, _ encoding: TextEncoding) -> UInt64 {
    guard let tree = sequence(object), let found = tree.find(element) else { return 0 }
    let unit = type(of: object) == .makeText ? encoding.unit : .elements
    return UInt64(tree.start(of: found.place)[unit])
  }
}
