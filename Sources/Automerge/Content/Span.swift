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
    try (PieceReader.pieces(of: text(object).tree, at: clock) ?? []).map { piece in
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

/// Reads a text in pieces of equal marks, with the block markers between them.
/// - Complexity: O(n) in the runs of the text, and in the marks of the pieces
struct PieceReader {
  private var pieces: [TextPiece] = []
  private var text: [UInt8] = []
  private var active: MarksInForce
  /// What the names whose marks have changed since the last text had there.
  private var before: [MapKey: RawValue?] = [:]
  /// How many marks further pieces may name.
  private var left: Int

  /// Nil if the pieces name more than `limit` marks together; they may be as many as the square of the marks of the text.
  static func pieces(of tree: TextTree, at clock: Clock, marksAtMost limit: Int = .max) -> [TextPiece]? {
    var reader = PieceReader(active: MarksInForce(at: clock, actors: tree.actors), left: limit)
    tree.forEachStretch(at: clock) { stretch in
      switch stretch {
      case .plain(_, _, let range): reader.add(tree.bytes.bytes[range])
      case .irregular(_, let winner) where winner.action == .makeMap:
        reader.endText()
        reader.pieces.append(.block(winner.id))
      case .irregular(_, let winner): reader.add(winner.textUTF8[...])
      case .mark(let op): reader.pass(op)
      }
      return reader.left >= 0
    }
    reader.endText()
    return reader.left >= 0 ? reader.pieces : nil
  }

  private init(active: MarksInForce, left: Int) { (self.active, self.left) = (active, left) }

  private mutating func pass(_ op: StoredOp) {
    guard let change = active.pass(op), before[change.name] == nil else { return }
    before[change.name] = .some(change.before)
  }

  private mutating func add(_ utf8: ArraySlice<UInt8>) {
    if text.isEmpty || before.contains(where: { active.values[$0] != $1 }) { endText() }
    if !before.isEmpty { before = [:] }
    text += utf8
  }

  private mutating func endText() {
    if !text.isEmpty {
      var marks = active.values
      for (name, value) in before { marks[name] = value }
      pieces.append(.text(text, marks: marks))
      left -= marks.count
    }
    (text, before) = ([], [:])
  }
}
