/// A stretch of a text that has a named value, such as formatting or a comment.
public struct Mark: Hashable, Sendable {
  /// The first marked unit, in the document's text encoding.
  public let start: UInt64
  /// The first unit after the mark.
  public let end: UInt64
  public let name: String
  /// The value; null where the mark was removed.
  public let value: ScalarValue

  public init(start: UInt64, end: UInt64, name: String, value: ScalarValue) {
    (self.start, self.end, self.name, self.value) = (start, end, name, value)
  }
}

/// Whether text that is inserted at the edges of a mark joins it.
public enum ExpandMark: Hashable, Sendable { case before, after, both, none }
