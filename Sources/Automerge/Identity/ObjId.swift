/// Names one object (map, list or text) of a document, in any replica.
public struct ObjId: Hashable, Sendable {
  /// The operation that made the object; counter 0 is the root.
  let counter: UInt64
  /// The actor that made the object; nil for the root.
  public let actor: ActorId?

  public static let ROOT = ObjId(counter: 0, actor: nil)
}

/// The type of an object. A table counts as a map.
public enum ObjType: Hashable, Sendable { case Map, List, Text }

extension ObjId: Comparable {
  /// Orders objects by the operations that made them, equally in all replicas. An object that was made with knowledge
  /// of another one is greater.
  public static func < (left: ObjId, right: ObjId) -> Bool {
    guard left.counter == right.counter else { return left.counter < right.counter }
    guard let one = left.actor, let other = right.actor else { return left.actor == nil && right.actor != nil }
    return one < other
  }
}

extension ObjId {
  /// The object that `description` names; nil for any other text, and for the root.
  public init?(description: String) {
    let parts = description.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, let counter = UInt64(parts[0]), let actor = ActorId(hexadecimal: String(parts[1])) else {
      return nil
    }
    self.init(counter: counter, actor: actor)
  }
}
