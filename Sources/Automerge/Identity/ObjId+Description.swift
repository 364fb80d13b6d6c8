extension ObjId: CustomStringConvertible, CustomDebugStringConvertible {
  /// The operation that made the object, as its counter, `@` and the actor's bytes in hexadecimal; `_root` for the root.
  public var description: String { actor.map { "\(counter)@\($0.hexadecimal)" } ?? "_root" }

  public var debugDescription: String { description }
}
