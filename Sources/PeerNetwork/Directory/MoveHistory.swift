import AutomergeRepo

/// The documents that have moved to others, and where they are now.
struct MoveHistory {
  /// By the old ids.
  private(set) var moves: [DocumentId: DocumentMove] = [:]

  /// Moves that this person's notes have yet to follow.
  var toFollow: [DocumentMove] { moves.values.filter { !$0.isFollowed } }

  mutating func record(_ move: DocumentMove) { moves[move.document] = move }

  /// Whether a move is new: the document has not moved yet, or to another successor that our person has not followed.
  func isNews(_ move: DocumentMove) -> Bool {
    moves[move.document].map { !$0.isFollowed && $0.successor != move.successor } ?? true
  }

  /// The move as it is told to a guest that has missed it: it leads to where the document is now, and names all who were removed
  /// on the way. Moves in a circle end where they began.
  func current(_ move: DocumentMove) -> DocumentMove {
    var (last, seen) = (move, Set([move.document]))
    while let next = moves[last.successor], seen.insert(next.document).inserted {
      last.successor = next.successor
      last.removed.formUnion(next.removed)
    }
    return last
  }
}
