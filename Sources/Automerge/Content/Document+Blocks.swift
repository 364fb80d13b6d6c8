/// Rich text: a text object that markers divide into blocks, such as paragraphs and headings. A marker is a map. In the
/// text it is one element, which reads as the object replacement character (U+FFFC). Indexes count in `textEncoding`.
extension Document {
  /// A text with its marks and blocks, from front to back. Text is split where marks begin and end.
  /// - Complexity: O(n) in the runs of the text, and in the content of its blocks
  public func spans(obj: ObjId) throws -> [Span] {
    try withCore { try $0.spans(obj, at: $0.view) }
  }

  /// Like `spans`, for the text as it was at `heads`. Unknown heads are ignored.
  public func spansAt(obj: ObjId, heads: Set<ChangeHash>) throws -> [Span] {
    try withCore { try $0.spans(obj, at: $0.past(heads)) }
  }

  /// The content of the block whose marker is at an index; nil if there is no marker.
  public func block(obj: ObjId, index: UInt64) throws -> [String: AutomergeValue]? {
    try withCore { try $0.block(obj, index: index, at: $0.view, textEncoding) }
  }

  /// Like `block`, for the text as it was at `heads`. Unknown heads are ignored.
  public func blockAt(obj: ObjId, index: UInt64, heads: Set<ChangeHash>) throws -> [String: AutomergeValue]? {
    try withCore { try $0.block(obj, index: index, at: $0.past(heads), textEncoding) }
  }

  /// Begins a new block at an index. Returns the id of its marker, an empty map to be filled.
  @discardableResult
  public func splitBlock(obj: ObjId, index: UInt64) throws -> ObjId {
    try withCore { _ = try $0.text(obj) }
    return try insertObject(obj: obj, index: index, ty: .Map)
  }

  /// Begins a new block at an index, with this content of its map. Returns the map's id.
  @discardableResult
  public func splitBlock(obj: ObjId, index: UInt64, block: [String: AutomergeValue]) throws -> ObjId {
    let value = AutomergeValue.dict(block)
    try value.checkContent(at: obj)
    return try withoutOtherThreads {
      let map = try splitBlock(obj: obj, index: index)
      try updateObject(obj: map, value: value)
      return map
    }
  }

  /// Joins a block with the one before it, by deleting the marker at an index. Throws `DocError.notABlock` if there is
  /// no marker.
  public func joinBlock(obj: ObjId, index: UInt64) throws {
    try withoutOtherThreads {
      try expectBlock(obj, at: index)
      try delete(obj: obj, index: index)
    }
  }

  /// Replaces the marker at an index by a new one. Returns the new map's id. Throws `DocError.notABlock` if there is no
  /// marker.
  ///
  /// If two people do this to one block at once, two markers remain. To change a part of a block, write to its map
  /// instead.
  @discardableResult
  public func updateBlock(obj: ObjId, index: UInt64, block: [String: AutomergeValue]) throws -> ObjId {
    try AutomergeValue.dict(block).checkContent(at: obj)
    return try withoutOtherThreads {
      try expectBlock(obj, at: index)
      try delete(obj: obj, index: index)
      return try splitBlock(obj: obj, index: index, block: block)
    }
  }

  private func expectBlock(_ obj: ObjId, at index: UInt64) throws {
    let isBlock = try withCore { core in
      _ = try core.inView(core.text(obj))
      return try core.slot(obj, index, textEncoding)?.winner(at: core.view)?.action == .makeMap
    }
    guard isBlock else { throw DocError.notABlock(index) }
  }
}

extension DocumentCore {
  fileprivate func block(
    _ object: ObjId, index: UInt64, at clock: Clock, _ encoding: TextEncoding
  ) throws -> [String: AutomergeValue]? {
    _ = try text(object)
    guard let winner = try slot(object, index, encoding, at: clock)?.winner(at: clock), winner.action == .makeMap else {
      return nil
    }
    return try block(winner.id, at: clock)
  }
}
