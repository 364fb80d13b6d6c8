/// Marks: formatting, comments, links and the like on stretches of a text. Positions are counted in `textEncoding`.
extension Document {
  /// Marks the text from `start` up to `end`. The value null removes marks of that name. An empty stretch is marked
  /// only if the mark can grow. Throws `DocError.outOfBounds` and marks nothing if the text has no such stretch.
  public func mark(
    obj: ObjId, start: UInt64, end: UInt64, expand: ExpandMark, name: String, value: ScalarValue
  ) throws {
    guard let first = Int(exactly: start), let last = Int(exactly: end) else { throw DocError.outOfBounds(end) }
    try withCore { core in
      try core.mark(
        obj, from: first, to: last, unit: textEncoding.unit, expand: expand, name: name, value: value)
    }
  }

  /// Removes marks of a name from `start` up to `end`. `expand` says whether text that is inserted at the edges is
  /// unmarked, too.
  public func unmark(obj: ObjId, start: UInt64, end: UInt64, expand: ExpandMark, name: String) throws {
    try mark(obj: obj, start: start, end: end, expand: expand, name: name, value: .Null)
  }

  /// The marks of a text: by name, and those of one name from left to right. Adjacent marks of equal value are joined.
  /// - Complexity: O(n) in the runs of the text.
  public func marks(obj: ObjId) throws -> [Mark] {
    try withCore { MarkReader(try $0.text(obj).tree, at: $0.view, textEncoding.unit).all() }
  }

  /// Like `marks`, for the text as it was at `heads`. Unknown heads are ignored.
  public func marksAt(obj: ObjId, heads: Set<ChangeHash>) throws -> [Mark] {
    try withCore { MarkReader(try $0.text(obj).tree, at: $0.past(heads), textEncoding.unit).all() }
  }

  /// The marks of the character at a position, by name, as empty stretches there.
  public func marksAt(obj: ObjId, position: Position) throws -> [Mark] {
    try withCore { try $0.marks(obj, position, at: $0.view, textEncoding) }
  }

  /// Like `marksAt(obj:position:)`, for the text as it was at `heads`. Unknown heads are ignored. Throws
  /// `DocError.unknownCursor` if the cursor's character had not been written then.
  public func marksAt(obj: ObjId, position: Position, heads: Set<ChangeHash>) throws -> [Mark] {
    try withCore { try $0.marks(obj, position, at: $0.past(heads), textEncoding) }
  }
}

extension DocumentCore {
  fileprivate func marks(
    _ object: ObjId, _ position: Position, at clock: Clock, _ encoding: TextEncoding
  ) throws(DocError) -> [Mark] {
    let tree = try text(object).tree
    let index: Int
    switch position {
    case .cursor(let cursor):
      guard try stood(cursor, at: clock) else { throw .unknownCursor }
      index = try self.position(of: cursor, in: tree, at: clock)[encoding.unit]
    case .index(let given):
      guard let exact = Int(exactly: given) else { return [] }
      index = exact
    }
    return MarkReader(tree, at: clock, encoding.unit).marks(at: index).map { name, value in
      Mark(start: UInt64(index), end: UInt64(index), name: name, value: value)
    }
  }
}
