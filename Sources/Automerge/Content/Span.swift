/// A piece of a rich text: characters with equal marks, or the marker that begins a block.
///
/// By a convention that Automerge's libraries share, a block has a string `type`, a list of strings `parents`, and a map
/// `attrs`.
public enum Span: Hashable, Sendable {
  /// Characters, and the marks that hold for all of them, by name.
  case text(String, marks: [String: ScalarValue])
  /// A block marker, and what its map holds.
  case block([String: AutomergeValue])
}

extension DocumentCore {
  /// - Complexity: O(n) in the runs of the text, and in what its blocks hold.
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

  /// What the map of a block holds.
  func block(_ id: OpId, at clock: Clock) throws -> [String: AutomergeValue] {
    guard case .dict(let entries) = try hydrate(objId(id), at: clock, depth: 0) else {
      preconditionFailure("a block is a map")
    }
    return entries
  }
}

/// A span before its block is read.
enum TextPiece {
  case text([UInt8], marks: [MapKey: RawValue])
  /// The map that is its marker.
  case block(OpId)
}

extension TextTree {
  /// The text in pieces of equal marks, with the block markers between.
  func pieces(at clock: Clock) -> [TextPiece] {
    var pieces: [TextPiece] = [], active = ActiveMarks()
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
      case .mark(let op): active.pass(op, actors: actors)
      }
      return true
    }
    endText()
    return pieces
  }
}
