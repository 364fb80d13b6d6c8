extension Document {
  /// The way from the root to an object: for each step the object that is left, and where in it the next one stands. Empty
  /// for the root. Of an object that was deleted or replaced, the way to where it was. Throws `DocError.unknownObject`.
  /// - Complexity: O(d log n), d the depth; the first time after changes also O(m) in the runs of those changes.
  public func path(obj: ObjId) throws -> [PathElement] {
    try withCore { core in
      guard let id = core.opId(obj) else { throw DocError.unknownObject(obj) }
      core.lookups.parents.update(from: core)
      let pending = core.pendingPlaces()
      var path: [PathElement] = [], at = id
      while let place = core.lookups.parents[at] ?? pending[at] {
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

extension DocumentCore {
  /// Where the objects stand that the pending transaction has made. The transaction goes on.
  fileprivate func pendingPlaces() -> [OpId: ObjectParents.Place] {
    guard let transaction else { return [:] }
    var places: [OpId: ObjectParents.Place] = [:]
    log.forEachRun(in: transaction.firstOp..<log.opCount) { run, id in
      guard run.kind == .other else { return }
      let op = log.others[Int(run.text)]
      if op.action.makesObject {
        places[id] = ObjectParents.Place(object: op.object, key: op.isInsert ? .element(id) : op.key)
      }
    }
    return places
  }
}

extension ObjectStore {
  /// The index of an element as it is now; of one that is deleted, the index of what comes after it.
  fileprivate func index(of element: OpId, in object: OpId, _ encoding: TextEncoding) -> UInt64 {
    guard let tree = sequence(object), let found = tree.find(element) else { return 0 }
    let unit = type(of: object) == .makeText ? encoding.unit : .elements
    return UInt64(tree.start(of: found.place)[unit])
  }
}
