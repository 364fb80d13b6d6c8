/// Where a value stands in its object: at a key of a map, or at an index of a list or text.
public enum Prop: Hashable, Sendable {
  case Key(String)
  /// Of a text, in the units of the document's text encoding.
  case Index(UInt64)
}

/// One step on the way from the root to an object: the object that is left, and where in it the next one stands.
public struct PathElement: Hashable, Sendable {
  public let prop: Prop
  public let obj: ObjId

  public init(obj: ObjId, prop: Prop) { (self.obj, self.prop) = (obj, prop) }
}
