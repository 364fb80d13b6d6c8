/// Texts.
extension Document {
  public func text(obj: ObjId) throws -> String {
    try withCore { core in core.string(of: try core.text(obj).tree) }
  }

  /// Replaces part of a text: inserts `value` at `start` and deletes `delete` units after it. A negative `delete`
  /// deletes before `start`. `start` and `delete` are counted in `textEncoding`. Deleting stops at the end of the text.
  public func spliceText(obj: ObjId, start: UInt64, delete: Int64, value: String? = nil) throws {
    var value = value ?? ""
    if keep(insertionOf: &value, deleting: delete, in: obj, at: start) {
      observers.notify()
      return
    }
    try applySplice(obj: obj, start: start, delete: delete, value: &value)
  }

  private func applySplice(obj: ObjId, start: UInt64, delete: Int64, value: inout String) throws {
    let unit = textEncoding.unit
    try withState { state in
      let core = state.core
      let (id, tree) = try core.inView(core.text(obj))
      guard let first = Int(exactly: start), let count = Int(exactly: delete.magnitude) else {
        throw DocError.outOfBounds(start)
      }
      var from = first
      if delete < 0 {
        guard count <= first else { throw DocError.outOfBounds(start) }
        from = first - count
      }
      guard first <= core.total(of: tree)[unit] else { throw DocError.outOfBounds(start) }
      if unit == .graphemes {
        try core.spliceClusters(tree, id, at: from, deleting: count, unit: unit, inserting: value)
      } else {
        try value.withUTF8 { try core.splice(tree, id, at: from, deleting: count, unit: unit, inserting: $0) }
        core.expect(&state.keystrokes, in: obj, tree, unit: unit)
      }
    }
  }

  /// Buffers a keystroke, to be applied later. False if it has to be applied now.
  @inline(__always)
  private func keep(
    insertionOf value: inout String, deleting count: Int64, in obj: ObjId, at start: UInt64
  ) -> Bool {
    guard (count == 0) != value.isEmpty, count == 0 || count == 1 else { return false }
    let unit = textEncoding.unit, letter = value.onlyASCII
    return withKeystrokes { state in
      if count == 0, let letter, state.keystrokes.keep(nextLetter: letter, in: obj, at: start, unit: unit) {
        return true
      }
      return keep(insertionOf: &value, deleting: count, in: obj, at: start, unit: unit, &state)
    }
  }

  private func keep(
    insertionOf value: inout String, deleting count: Int64, in obj: ObjId, at start: UInt64, unit: TextUnit,
    _ state: inout DocumentState
  ) -> Bool {
    let isInsertion = count == 0
    func keep(_ value: inout String) -> Keystrokes.Answer {
      isInsertion
        ? state.keystrokes.keep(insertionOf: &value, in: obj, at: start, unit: unit)
        : state.keystrokes.keep(deletionIn: obj, at: start, unit: unit)
    }
    var answer = keep(&value)
    if answer == .afterThese {
      state.core.apply(&state.keystrokes)
      answer = keep(&value)
    }
    return answer == .kept
  }

  /// An editor's splice: offsets in UTF-8 whatever the encoding. An offset inside a scalar is moved to its start.
  /// Deleting stops at the end of the text. Throws if `insert` is not valid UTF-8.
  public func spliceText(obj: ObjId, utf8Offset: Int, deleteUTF8: Int, insert: [UInt8]) throws {
    guard utf8Offset >= 0, deleteUTF8 >= 0 else { throw DocError.outOfBounds(UInt64(utf8Offset.magnitude)) }
    guard insert.allSatisfy({ $0 < 0x80 }) || String(validating: insert, as: UTF8.self) != nil else {
      throw DocError.invalidUTF8
    }
    try withCore { core in
      let (id, tree) = try core.inView(core.text(obj))
      let end = core.total(of: tree)[.utf8]
      guard utf8Offset <= end else { throw DocError.outOfBounds(UInt64(utf8Offset)) }
      try core.splice(
        tree, id, utf8Offset: utf8Offset, deleting: min(deleteUTF8, end - utf8Offset), inserting: insert)
    }
  }

  /// The measure of the whole text.
  public func textMeasure(obj: ObjId) throws -> TextMeasure {
    try withCore { try $0.text(obj).tree.total.measure }
  }

  /// The measure of the text before the offset. An offset inside a scalar is moved to its start.
  /// - Complexity: O(log n) in the runs of the text.
  public func textMeasure(obj: ObjId, utf8Offset: Int) throws -> TextMeasure {
    try measure(obj, before: utf8Offset, .utf8)
  }

  public func textMeasure(obj: ObjId, scalarOffset: Int) throws -> TextMeasure {
    try measure(obj, before: scalarOffset, .scalars)
  }

  public func textMeasure(obj: ObjId, utf16Offset: Int) throws -> TextMeasure {
    try measure(obj, before: utf16Offset, .utf16)
  }

  /// The measure of the text before line `line` (from 0), including the line feed before it; nil if there are fewer
  /// lines.
  public func textMeasure(obj: ObjId, line: Int) throws -> TextMeasure? {
    try withCore { core in
      let tree = try core.text(obj).tree
      guard line >= 0, line <= tree.total[.newlines] else { return nil }
      return tree.measure(before: line, .newlines)
    }
  }

  private func measure(_ obj: ObjId, before amount: Int, _ unit: TextUnit) throws -> TextMeasure {
    try withCore { core in
      let tree = try core.text(obj).tree
      guard amount >= 0, amount <= tree.total[unit] else { throw DocError.outOfBounds(UInt64(amount.magnitude)) }
      return tree.measure(before: amount, unit)
    }
  }

  /// The UTF-8 between two offsets.
  public func textUTF8(obj: ObjId, _ range: Range<Int>) throws -> [UInt8] {
    try withCore { core in
      let tree = try core.text(obj).tree
      guard range.lowerBound >= 0, range.upperBound <= tree.total[.utf8] else {
        throw DocError.outOfBounds(UInt64(range.upperBound.magnitude))
      }
      return tree.utf8(range)
    }
  }

  /// The edits that turned the text at `heads` into the present one, from left to right. Unknown heads are ignored.
  public func textEdits(obj: ObjId, since heads: Set<ChangeHash>) throws -> [TextEdit] {
    try withCore { core in
      core.commitPending()
      let tree = try core.text(obj).tree
      return tree.edits(since: core.clock(at: heads), object: obj)
    }
  }

  /// Like `textEdits(obj:since:)`, from the text at `heads` plus all changes of one actor since then: the text that the
  /// actor's writer sees before changes of others arrive.
  public func textEdits(obj: ObjId, since heads: Set<ChangeHash>, andAllBy actor: ActorId) throws -> [TextEdit] {
    try textEdits(obj: obj, since: heads, andAllBy: { $0 == actor })
  }

  /// The same for several actors: those for which `isAuthor` is true.
  public func textEdits(
    obj: ObjId, since heads: Set<ChangeHash>, andAllBy isAuthor: (ActorId) -> Bool
  ) throws -> [TextEdit] {
    // Outside of the lock, because `isAuthor` may use the document.
    let authors = withCore { $0.actors.actors }.filter(isAuthor)
    return try withCore { core in
      core.commitPending()
      let tree = try core.text(obj).tree
      var clock = core.clock(at: heads)
      for index in authors.compactMap(core.actors.find) { clock.set(.max, actor: index) }
      return tree.edits(since: clock, object: obj)
    }
  }
}

extension TextEncoding {
  /// The unit that positions in a text are counted in.
  var unit: TextUnit {
    switch self {
    case .graphemeCluster: .graphemes
    case .unicodeScalar: .scalars
    case .utf8: .utf8
    case .utf16: .utf16
    }
  }
}

extension TextTree {
  var string: String { String(decoding: utf8(0..<total[.utf8]), as: UTF8.self) }
}

extension DocumentCore {
  /// The state that consists of these changes and their ancestors.
  func clock(at heads: Set<ChangeHash>) -> Clock {
    computeHashes()
    return graph.clock(of: heads.compactMap { graph.row(of: $0) })
  }
}

extension String {
  /// The character, if the text is one ASCII character.
  @inline(__always)
  fileprivate var onlyASCII: UInt8? {
    let utf8 = utf8
    guard utf8.count == 1, let byte = utf8.first, byte < 0x80 else { return nil }
    return byte
  }
}
