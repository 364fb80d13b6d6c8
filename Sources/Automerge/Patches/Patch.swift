/// One step that turns the content of a document at one time into its content at another.
///
/// Patches in a list build on one another: applied from front to back to a copy of the old content, they give the new
/// content. Objects nested deeper than `Document.valueDepthLimit` have no patches.
public struct Patch: Hashable, Sendable {
  /// What happened to which object.
  public let action: PatchAction
  /// The path from the root to that object, as it is after the last patch of the list; empty for the root.
  public let path: [PathElement]

  public init(action: PatchAction, path: [PathElement]) { (self.action, self.path) = (action, path) }
}

/// What one patch does. Indexes into texts, and lengths of texts, are counted in the document's text encoding.
public enum PatchAction: Hashable, Sendable {
  /// A value replaced another one, or was put at a new key. An object is put empty; further patches fill it.
  case Put(ObjId, Prop, Value)
  /// Values were inserted before `index`. Objects are inserted empty, as in `Put`.
  case Insert(obj: ObjId, index: UInt64, values: [Value])
  /// Characters were inserted before `index`; `marks` are the marks that apply to all of them.
  case SpliceText(obj: ObjId, index: UInt64, value: String, marks: [String: Value])
  /// A counter increased, or decreased if the number is negative.
  case Increment(ObjId, Prop, Int64)
  /// A key was deleted.
  case DeleteMap(ObjId, String)
  /// Elements of a list, or characters, were deleted.
  case DeleteSeq(DeleteSeq)
  /// Marks were added to existing text; a mark with the value null was removed.
  case Marks(ObjId, [Mark])
  /// The value stayed, but now conflicts with others.
  case Conflict(ObjId, Prop)
}

/// Elements that were deleted from a list or text.
public struct DeleteSeq: Hashable, Sendable {
  public let obj: ObjId
  /// The index of the first one.
  public let index: UInt64
  /// The number of elements; in a text, of units of the document's text encoding.
  public let length: UInt64

  public init(obj: ObjId, index: UInt64, length: UInt64) {
    (self.obj, self.index, self.length) = (obj, index, length)
  }
}
