/// Finds where text goes that an undo brings back.
///
/// It goes behind the last of its own deleted elements. But what it was typed behind may have been deleted too, and may have come
/// back as a copy that stands further behind, because a longer piece came back as one. Then it goes behind that copy.
struct RestoredPlace {
  let tree: TextTree
  let copies: [RestoredCopies]
  /// The state to come, in which some copies are no more.
  let after: Clock

  /// So many elements of which one was typed behind another are looked at, and so many copies of copies.
  private static let maximumStepCount = 64

  private var pieces: some Sequence<RestoredCopies.Elements> { copies.lazy.flatMap(\.elements) }

  /// The element to insert behind; nil if none of those that come back is in the sequence.
  /// - Complexity: O(n) in the pieces that were put in again, for each run of deleted text before this one.
  func element(for origin: PatchWriter.Origin) -> OpId? {
    guard let (last, _) = tree.find(origin.last) else { return nil }
    guard let copy = copyBefore(origin.first), let place = tree.find(copy)?.place,
      tree.start(of: place)[.elements] >= tree.start(of: last)[.elements]
    else { return origin.last }
    return copy
  }

  /// The visible copy of the nearest element before one in the order of typing, unless an element that is visible itself is nearer.
  private func copyBefore(_ element: OpId) -> OpId? {
    var element = element
    for _ in 0..<Self.maximumStepCount {
      guard let (place, offset) = tree.find(element) else { return nil }
      if offset > 0 {
        if let copy = lastCopy(of: tree[place].id, count: offset) { return copy }
        element = tree[place].id
      } else if let piece = pieces.first(where: { $0.copy == element }) {
        // It stands where its piece was put in, but was typed where the original was.
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
