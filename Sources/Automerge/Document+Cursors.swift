/// Cursors: places that stay with their element while the text or list around it changes.
extension Document {
  /// A cursor for the element at a position, counted in `textEncoding` if this is a text. At or past the length, it is
  /// the end.
  public func cursor(obj: ObjId, position: UInt64, move: MoveCursor = .after) throws -> Cursor {
    try withCore { core in
      guard let winner = try core.slot(obj, position, textEncoding)?.winner(at: core.view) else { return .end }
      return core.cursor(at: winner.id, move)
    }
  }

  /// Like `cursor(obj:position:move:)`, for the position as it was at `heads`. Unknown heads are ignored.
  public func cursor(
    obj: ObjId, position: UInt64, heads: Set<ChangeHash>, move: MoveCursor = .after
  ) throws -> Cursor {
    try withCore { core in
      let clock = core.past(heads)
      guard let winner = try core.slot(obj, position, textEncoding, at: clock)?.winner(at: clock) else { return .end }
      return core.cursor(at: winner.id, move)
    }
  }

  /// The present position of a cursor, counted in `textEncoding` if this is a text. If its element was deleted, the
  /// position of the next or the previous one, as the cursor says.
  public func position(obj: ObjId, cursor: Cursor) throws -> UInt64 {
    try withCore { core in
      let unit = try core.unit(of: obj, textEncoding)
      return UInt64(try core.position(of: cursor, in: core.sequence(obj).tree, at: core.view)[unit])
    }
  }

  /// Like `position(obj:cursor:)`, for the state at `heads`. Unknown heads are ignored.
  public func position(obj: ObjId, cursor: Cursor, heads: Set<ChangeHash>) throws -> UInt64 {
    try withCore { core in
      let unit = try core.unit(of: obj, textEncoding)
      return UInt64(try core.position(of: cursor, in: core.sequence(obj).tree, at: core.past(heads))[unit])
    }
  }

  /// A cursor for the element at the offset. At the end, it is an end cursor.
  public func cursor(obj: ObjId, utf8Offset: Int) throws -> Cursor {
    try withCore { core in
      let tree = try core.text(obj).tree
      guard utf8Offset >= 0, utf8Offset <= tree.total[.utf8] else {
        throw DocError.outOfBounds(UInt64(utf8Offset.magnitude))
      }
      if utf8Offset == tree.total[.utf8] { return .end }
      return core.cursor(at: tree.operation(at: utf8Offset, .utf8), .after)
    }
  }

  /// The present offset of a cursor. If its element was deleted, the offset where that was.
  public func utf8Offset(obj: ObjId, cursor: Cursor) throws -> Int {
    try withCore { try $0.position(of: cursor, in: $0.text(obj).tree, at: .now)[.utf8] }
  }
}

extension DocumentCore {
  fileprivate func cursor(at id: OpId, _ move: MoveCursor) -> Cursor {
    Cursor(code: .operation(actor: actors[id.actor], counter: id.counter, move: move))
  }

  /// Whether the cursor's element had been written in a past state. Both ends of a text always exist.
  func stood(_ cursor: Cursor, at clock: Clock) throws(DocError) -> Bool {
    guard case .operation(let actor, let counter, _) = try CursorCode(cursor.bytes) else { return true }
    guard let index = actors.find(actor) else { return false }
    return clock.covers(OpId(counter: counter, actor: index))
  }

  /// What is visible before a cursor.
  func position(of cursor: Cursor, in tree: TextTree, at clock: Clock) throws(DocError) -> TextSums {
    switch try CursorCode(cursor.bytes) {
    case .start: return .zero
    case .end: return clock.isNow ? tree.total : tree.sums(at: clock)
    case .operation(let actor, let counter, let move):
      guard let index = actors.find(actor) else { throw .unknownCursor }
      let id = OpId(counter: counter, actor: index)
      let place =
        clock.isNow
        ? tree.position(of: id, movingBefore: move == .before)
        : tree.position(of: id, movingBefore: move == .before, at: clock)
      guard let place else { throw .unknownCursor }
      return place
    }
  }
}

extension TextTree {
  /// Like `position(of:movingBefore:)`, at a past state.
  /// - Complexity: O(n) in the runs
  fileprivate func position(of operation: OpId, movingBefore: Bool, at clock: Clock) -> TextSums? {
    guard var (place, element) = find(updates[operation] ?? operation) else { return nil }
    if movingBefore {
      while !isVisible(place, element, at: clock) {
        let origin = element > 0 ? self[place].id.advanced(by: element - 1) : self[place].origin
        guard let behind = find(origin) else { return .zero }
        (place, element) = behind
      }
    }
    return sums(before: place, element, at: clock)
  }
}
