/// Names one object (map, list or text) of a document, in any replica.
public struct ObjId: Hashable, Sendable {
  /// The operation that made the object; counter 0 is the root.
  let counter: UInt64
  let actor: ActorId?

  public static let ROOT = ObjId(counter: 0, actor: nil)
}

/// What kind of object an `ObjId` names. A table reads as a map.
public enum ObjType: Hashable, Sendable { case Map, List, Text }
