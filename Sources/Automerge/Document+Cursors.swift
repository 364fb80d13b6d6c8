import Foundation

/// A place in a text or list that moves with what stands there.
public struct Cursor: Hashable, Sendable {
  /// As it travels. Format: automerge-format, section 6.4.
  public let bytes: Data
  public init(bytes: Data) { self.bytes = bytes }
}

/// Cursors: places that stay put while the text around them changes.
extension Document {
  /// A cursor that stays with what stands at the offset. A position at the end gives an end cursor.
  public func cursor(obj: ObjId, utf8Offset: Int) throws -> Cursor {
    try withCore { core in
      let tree = try core.text(obj).tree
      guard utf8Offset >= 0, utf8Offset <= tree.total[.utf8] else {
        throw DocError.outOfBounds(UInt64(utf8Offset.magnitude))
      }
      if utf8Offset == tree.total[.utf8] { return Cursor(bytes: CursorCode.end.bytes) }
      let id = tree.operation(at: utf8Offset, .utf8)
      let code = CursorCode.operation(actor: core.actors[id.actor], counter: id.counter, movesBefore: false)
      return Cursor(bytes: code.bytes)
    }
  }

  /// Where a cursor is now. If what it stood at is deleted, it is where that was.
  public func utf8Offset(obj: ObjId, cursor: Cursor) throws -> Int {
    try withCore { core throws in
      let tree = try core.text(obj).tree
      switch try CursorCode(cursor.bytes) {
      case .start: return 0
      case .end: return tree.total[.utf8]
      case .operation(let actor, let counter, let movesBefore):
        guard let index = core.actors.find(actor),
          let place = tree.position(of: OpId(counter: counter, actor: index), movingBefore: movesBefore)
        else { throw DocError.unknownCursor }
        return place.utf8
      }
    }
  }
}

/// What a cursor's bytes say.
private enum CursorCode {
  case start
  case end
  case operation(actor: ActorId, counter: UInt32, movesBefore: Bool)

  init(_ bytes: Data) throws(DocError) {
    do throws(FormatError) { self = try CursorCode.read(bytes) } catch { throw .invalidCursor }
  }

  private static func read(_ bytes: Data) throws(FormatError) -> CursorCode {
    var reader = ByteReader(Array(bytes))
    let version = try reader.byte()
    guard version <= 1 else { throw .invalid(.cursor, at: 0) }
    let tag = version == 0 ? 3 : try reader.byte()
    switch tag {
    case 1, 2:
      try reader.expectEnd()
      return tag == 1 ? .start : .end
    case 3:
      let actor = try reader.actor(), counter = try reader.uleb32()
      let move = version == 0 ? 2 : try reader.byte()
      guard counter > 0, move == 1 || move == 2 else { throw .invalid(.cursor, at: reader.offset) }
      try reader.expectEnd()
      return .operation(actor: actor, counter: counter, movesBefore: move == 1)
    default: throw .invalid(.cursor, at: 1)
    }
  }

  var bytes: Data {
    var writer = ByteWriter()
    writer.byte(1)
    switch self {
    case .start: writer.byte(1)
    case .end: writer.byte(2)
    case .operation(let actor, let counter, let movesBefore):
      writer.byte(3)
      writer.actor(actor)
      writer.uleb(UInt64(counter))
      writer.byte(movesBefore ? 1 : 2)
    }
    return Data(writer.bytes)
  }
}
