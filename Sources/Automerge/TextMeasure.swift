/// The size of a text, or of the part before some place, in every unit that an editor may count in.
public struct TextMeasure: Hashable, Sendable {
  public var utf8: Int
  public var scalars: Int
  public var utf16: Int
  /// Line feeds: the line number of the end, counted from 0.
  public var newlines: Int

  public init(utf8: Int = 0, scalars: Int = 0, utf16: Int = 0, newlines: Int = 0) {
    (self.utf8, self.scalars, self.utf16, self.newlines) = (utf8, scalars, utf16, newlines)
  }

  public static let zero = TextMeasure()
}

/// One replacement in a text object, for editors: what was deleted and inserted, and where in UTF-8 bytes. In a list,
/// each edit's offset refers to the text after the edits before it. An edit that begins where the one before it ends
/// comes after what that one deleted.
public struct TextEdit: Hashable, Sendable {
  public var object: ObjId
  public var utf8Offset: Int
  public var deleted: [UInt8]
  public var inserted: [UInt8]

  public init(object: ObjId, utf8Offset: Int, deleted: [UInt8], inserted: [UInt8]) {
    (self.object, self.utf8Offset, self.deleted, self.inserted) = (object, utf8Offset, deleted, inserted)
  }
}
