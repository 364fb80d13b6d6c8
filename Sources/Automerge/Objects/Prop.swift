/// A place in an object: a key of a map, or an index of a list or text.
public enum Prop: Hashable, Sendable {
  case Key(String)
  /// In a text, counted in the document's text encoding.
  case Index(UInt64)
}

/// One step of the path from the root to an object: an object, and the place of the next one in it.
public struct PathElement: Hashable, Sendable {
  public let prop: Prop
  public let obj: ObjId

  public init(obj: ObjId, prop: Prop) { (self.obj, self.prop) = (obj, prop) }
}
