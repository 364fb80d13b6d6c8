import AutomergeRepo

/// The documents that have moved, and the ones that continue them.
struct MoveHistory {
  /// By the old ids.
  private(set) var moves: [DocumentId: DocumentMove] = [:]

  /// The moves that this person's notes have yet to follow.
  var toFollow: [DocumentMove] { moves.values.filter { !$0.isFollowed } }

  mutating func record(_ move: DocumentMove) { moves[move.document] = move }

  /// Whether a move is new: the document has not moved yet, or has moved to another successor that this person has not
  /// followed.
  func isNews(_ move: DocumentMove) -> Bool {
    moves[move.document].map { !$0.isFollowed && $0.successor != move.successor } ?? true
  }

  /// The move to tell a guest that missed it: it leads to the document's last successor, and names all who were removed
  /// on the way. A circle of moves ends where it began.
  func current(_ move: DocumentMove) -> DocumentMove {
    var (last, seen) = (move, Set([move.document]))
    while let next = moves[last.successor], seen.insert(next.document).inserted {
      last.successor = next.successor
      last.removed.formUnion(next.removed)
    }
    return last
  }
}
