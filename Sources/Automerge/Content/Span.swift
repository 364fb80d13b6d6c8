/// A piece of a rich text: characters with equal marks, or the marker that begins a block.
///
/// By a convention of Automerge's libraries, a block has a string `type`, a list of strings `parents`, and a map
/// `attrs`.
public enum Span: Hashable, Sendable {
  /// Characters, and by name the marks that apply to all of them.
  case text(String, marks: [String: ScalarValue])
  /// A block marker, and the content of its map.
  case block([String: AutomergeValue])
}

extension DocumentCore {
  /// - Complexity: O(n) in the runs of the text, and in the content of its blocks
  func spans(_ object: ObjId, at clock: Clock) throws -> [Span] {
    try text(object).tree.pieces(at: clock).map { piece in
      switch piece {
      case .block(let id): return .block(try block(id, at: clock))
      case .text(let utf8, let marks):
        var named: [String: ScalarValue] = [:]
        for (name, value) in marks { named[name.string] = value.scalar }
        return .text(String(decoding: utf8, as: UTF8.self), marks: named)
      }
    }
  }

  /// The content of a block's map.
  func block(_ id: OpId, at clock: Clock) throws -> [String: AutomergeValue] {
    guard case .dict(let entries) = try hydrate(objId(id), at: clock, depth: 0) else {
      preconditionFailure("a block is a map")
    }
    return entries
  }
}

/// A span whose block has not been read yet.
enum TextPiece {
  case text([UInt8], marks: [MapKey: RawValue])
  /// The map that is the marker.
  case block(OpId)
}

extension TextTree {
  /// The text in pieces of equal marks, with the block markers between them.
  func pieces(at clock: Clock) -> [TextPiece] {
    var pieces: [TextPiece] = [], active = MarksInForce(at: clock, actors: actors)
    var text: [UInt8] = [], marks: [MapKey: RawValue] = [:]
    func endText() {
      if !text.isEmpty { pieces.append(.text(text, marks: marks)) }
      text = []
    }
    func add(_ utf8: ArraySlice<UInt8>) {
      if active.values != marks { endText() }
      marks = active.values
      text += utf8
    }
    forEachStretch(at: clock) { stretch in
      switch stretch {
      case .plain(_, _, let range): add(bytes.bytes[range])
      case .irregular(_, let winner) where winner.action == .makeMap:
        endText()
        pieces.append(.block(winner.id))
      case .irregular(_, let winner): add(winner.textUTF8[...])
      case .mark(let op): active.pass(op)
      }
      return true
    }
    endText()
    return pieces
  }
}
