/// Finds the place of text that an undo restores.
///
/// It is inserted after the last of its own deleted elements. But the element that it was typed after may have been
/// deleted, too, and restored as a copy further back, because a longer piece was restored as one. Then it is inserted
/// after that copy.
struct RestoredPlace {
  let tree: TextTree
  let copies: [RestoredCopies]
  /// The state that will result, which excludes some copies.
  let after: Clock

  /// How many elements are examined of which each was typed after the next, and how many copies of copies.
  private static let maximumStepCount = 64

  private var pieces: some Sequence<RestoredCopies.Elements> { copies.lazy.flatMap(\.elements) }

  /// The element to insert after; nil if none of the restored elements is in the sequence.
  /// - Complexity: O(n) in the restored pieces, for each run of deleted text before this one
  func element(for origin: PatchWriter.Origin) -> OpId? {
    guard let (last, _) = tree.find(origin.last) else { return nil }
    guard let copy = copyBefore(origin.first), let place = tree.find(copy)?.place,
      tree.start(of: place)[.elements] >= tree.start(of: last)[.elements]
    else { return origin.last }
    return copy
  }

  /// The visible copy of the nearest element before one in the order of typing, unless a nearer element is visible
  /// itself.
  private func copyBefore(_ element: OpId) -> OpId? {
    var element = element
    for _ in 0..<Self.maximumStepCount {
      guard let (place, offset) = tree.find(element) else { return nil }
      if offset > 0 {
        if let copy = lastCopy(of: tree[place].id, count: offset) { return copy }
        element = tree[place].id
      } else if let piece = pieces.first(where: { $0.copy == element }) {
        // It is where its piece was restored, but was typed where the original was.
        element = piece.original
      } else {
        guard let (before, offset) = tree.find(tree[place].origin), !tree.isVisible(before, offset, at: .now) else {
          return nil
        }
        if let copy = lastCopy(of: tree[before].id, count: offset + 1) { return copy }
        element = tree[before].id
      }
    }
    return nil
  }

  /// The visible copy of the last of some elements that has one.
  private func lastCopy(of first: OpId, count: Int) -> OpId? {
    var last: (offset: Int, copy: OpId)?
    for piece in pieces where piece.original.actor == first.actor {
      let from = Int(piece.original.counter) - Int(first.counter)
      let offset = min(from + piece.count, count) - 1
      guard offset >= max(from, 0), offset >= last?.offset ?? 0,
        let copy = visible(piece.copy.advanced(by: offset - from))
      else { continue }
      last = (offset, copy)
    }
    return last?.copy
  }

  /// The copy itself, or the copy of it that is visible.
  private func visible(_ copy: OpId) -> OpId? {
    var copy = copy
    for _ in 0..<Self.maximumStepCount {
      guard let (place, element) = tree.find(copy) else { return nil }
      if tree.isVisible(place, element, at: .now), after.covers(copy) { return copy }
      guard let next = pieces.lazy.compactMap({ $0.copy(of: copy) }).first else { return nil }
      copy = next
    }
    return nil
  }
}
