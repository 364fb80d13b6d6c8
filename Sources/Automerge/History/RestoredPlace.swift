/// Finds the place of text that an undo restores.
///
/// It is inserted after the last of its own deleted elements. But the element that it was typed after may have been
/// deleted, too, and restored as a copy further back, because a longer piece was restored as one. Then it is inserted
/// after that copy.
struct RestoredPlace {
  let tree: TextTree
  /// What earlier changes restored.
  let before: RestoredPieces
  /// What this change has restored so far.
  let now: RestoredPieces
  /// The state that will result, which excludes some copies.
  let after: Clock

  /// How many elements are examined of which each was typed after the next, and how many copies of copies.
  private static let maximumStepCount = 64

  /// The element to insert after; nil if none of the restored elements is in the sequence.
  /// - Complexity: O(log n) in the runs of the sequence, for each run of deleted text before this one
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
      } else if let piece = before.piece(beginningWith: element) ?? now.piece(beginningWith: element) {
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
    let old = before.last(of: first, count: count) { visible($0) }
    let new = now.last(of: first, count: count) { visible($0) }
    guard let old, let new else { return new?.result ?? old?.result }
    return new.offset >= old.offset ? new.result : old.result
  }

  /// The visible copy of an element.
  func visibleCopy(of element: OpId) -> OpId? {
    (before.firstCopy(of: element) ?? now.firstCopy(of: element)).flatMap { visible($0) }
  }

  /// The copy itself, or the copy of it that is visible.
  private func visible(_ copy: OpId) -> OpId? {
    var copy = copy
    for _ in 0..<Self.maximumStepCount {
      guard let (place, element) = tree.find(copy) else { return nil }
      if tree.isVisible(place, element, at: .now), after.covers(copy) { return copy }
      guard let next = before.firstCopy(of: copy) ?? now.firstCopy(of: copy) else { return nil }
      copy = next
    }
    return nil
  }
}
