/// One object of a document.
enum StoredObject {
  case map(MapObject)
  case sequence(TextTree)
}

/// All objects of a document by the operation that made each; the root has the id zero.
final class ObjectStore {
  let bytes: TextBytes
  let actors: ActorTable
  private(set) var objects: [OpId: StoredObject]
  private(set) var types: [OpId: OpAction]
  /// The sequence used last: a person types into one text at a time.
  private var lastSequence: (id: OpId, tree: TextTree)?

  init(bytes: TextBytes, actors: ActorTable) {
    (self.bytes, self.actors) = (bytes, actors)
    objects = [.zero: .map(MapObject())]
    types = [.zero: .makeMap]
  }

  init(copying other: ObjectStore, bytes: TextBytes, actors: ActorTable) {
    (self.bytes, self.actors, types) = (bytes, actors, other.types)
    objects = other.objects.mapValues { object in
      switch object {
      case .map(let map): .map(MapObject(copying: map))
      case .sequence(let tree): .sequence(TextTree(copying: tree, bytes: bytes, actors: actors))
      }
    }
  }

  subscript(id: OpId) -> StoredObject? { objects[id] }

  func type(of id: OpId) -> OpAction? { types[id] }

  func map(_ id: OpId) -> MapObject? {
    guard case .map(let map)? = objects[id] else { return nil }
    return map
  }

  func sequence(_ id: OpId) -> TextTree? {
    if let last = lastSequence, last.id == id { return last.tree }
    guard case .sequence(let tree)? = objects[id] else { return nil }
    lastSequence = (id, tree)
    return tree
  }

  /// Adds the empty object that the operation `id` makes.
  func make(_ id: OpId, _ action: OpAction) {
    types[id] = action
    objects[id] =
      switch action {
      case .makeList, .makeText: .sequence(TextTree(bytes: bytes, actors: actors))
      case .makeMap, .makeTable, .set, .delete, .increment, .mark: .map(MapObject())
      }
  }

  /// The ids of all objects in the order of a saved document: by counter, then by the actor's bytes; the root first.
  var sortedIds: [OpId] { objects.keys.sorted { actors.precedes($0, $1) } }
}
