/// One step that turns the content of a document at one time into its content at another.
///
/// In a list of patches each one counts in what the ones before it have left: applied one after the other, front to
/// back, to a copy of the old content they make the new one.
public struct Patch: Hashable, Sendable {
  /// What happened, and to which object.
  public let action: PatchAction
  /// The way from the root to that object, as it is after the last patch of the list; empty for the root itself.
  public let path: [PathElement]

  public init(action: PatchAction, path: [PathElement]) { (self.action, self.path) = (action, path) }
}

/// What one patch does. Indexes into texts, and lengths there, count in the document's text encoding.
public enum PatchAction: Hashable, Sendable {
  /// A value took the place of another, or came to a key of a map. An object comes empty: what it holds follows.
  case Put(ObjId, Prop, Value)
  /// Values came in before `index`. Objects come empty, as in `Put`.
  case Insert(obj: ObjId, index: UInt64, values: [Value])
  /// Characters came in before `index`; `marks` are the marks that hold for all of them.
  case SpliceText(obj: ObjId, index: UInt64, value: String, marks: [String: Value])
  /// A counter grew by so much, or shrank if it is negative.
  case Increment(ObjId, Prop, Int64)
  /// A key went.
  case DeleteMap(ObjId, String)
  /// Elements of a list or characters went.
  case DeleteSeq(DeleteSeq)
  /// Marks came to stretches of a text that was there; a mark with the value null went.
  case Marks(ObjId, [Mark])
  /// The value stayed, but others are now in conflict with it.
  case Conflict(ObjId, Prop)
}

/// Elements that went from a list or text.
public struct DeleteSeq: Hashable, Sendable {
  public let obj: ObjId
  /// The first of them.
  public let index: UInt64
  /// How many; in a text, how many units of the document's text encoding.
  public let length: UInt64

  public init(obj: ObjId, index: UInt64, length: UInt64) {
    (self.obj, self.index, self.length) = (obj, index, length)
  }
}
