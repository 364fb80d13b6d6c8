/// What was restored, in pieces that are found by their elements.
struct RestoredPieces {
  typealias Piece = RestoredCopies.Elements

  /// So many consecutive ids are found together.
  private static let blockLength: UInt32 = 64

  private struct Block: Hashable {
    let actor: UInt32
    let number: UInt32

    init(of id: OpId) { (actor, number) = (id.actor, id.counter / RestoredPieces.blockLength) }

    init(_ actor: UInt32, _ number: UInt32) { (self.actor, self.number) = (actor, number) }
  }

  private static func blocks(_ first: OpId, _ count: Int) -> some BidirectionalCollection<Block> {
    let last = first.advanced(by: count - 1)
    return (Block(of: first).number...Block(of: last).number).lazy.map { Block(first.actor, $0) }
  }

  private var pieces: [Piece] = []
  /// The pieces that restored some of these ids, by their indices, ascending.
  private var byOriginals: [Block: [Int]] = [:]
  /// The same for the copies.
  private var byCopies: [Block: [Int]] = [:]

  /// - Complexity: O(n) in the elements, one step for 64 of them
  mutating func add(_ piece: Piece) {
    guard piece.count > 0 else { return }
    for block in Self.blocks(piece.original, piece.count) { byOriginals[block, default: []].append(pieces.count) }
    for block in Self.blocks(piece.copy, piece.count) { byCopies[block, default: []].append(pieces.count) }
    pieces.append(piece)
  }

  /// The piece whose first copy this is.
  func piece(beginningWith copy: OpId) -> Piece? {
    byCopies[Block(of: copy)]?.first { pieces[$0].copy == copy }.map { pieces[$0] }
  }

  /// The first copy that was made of an element.
  func firstCopy(of element: OpId) -> OpId? {
    for index in byOriginals[Block(of: element)] ?? [] {
      if let copy = pieces[index].copy(of: element) { return copy }
    }
    return nil
  }

  /// The elements that are copies of one, and those that it is a copy of.
  func twins(of element: OpId) -> [OpId] {
    let block = Block(of: element)
    return (byOriginals[block] ?? []).compactMap { pieces[$0].copy(of: element) }
      + (byCopies[block] ?? []).compactMap { pieces[$0].original(of: element) }
  }

  /// Searches the pieces that restored some of `count` elements, those that reach furthest first, and of equals the one
  /// added last. Returns the first result of `body` for a copy of the furthest element, and how far that element is from
  /// `first`.
  func last<Result>(
    of first: OpId, count: Int, _ body: (_ copy: OpId) -> Result?
  ) -> (offset: Int, result: Result)? {
    guard count > 0 else { return nil }
    for block in Self.blocks(first, count).reversed() {
      var found: (offset: Int, result: Result)?
      for index in (byOriginals[block] ?? []).reversed() {
        let piece = pieces[index], from = Int(piece.original.counter) - Int(first.counter)
        let offset = min(from + piece.count, count) - 1
        guard offset >= max(from, 0), Block(of: first.advanced(by: offset)) == block,
          found.map({ offset > $0.offset }) ?? true, let result = body(piece.copy.advanced(by: offset - from))
        else { continue }
        found = (offset, result)
      }
      if let found { return found }
    }
    return nil
  }
}
