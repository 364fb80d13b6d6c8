extension TextDelta {
  /// This delta followed by `next`, as one delta.
  ///
  /// What `next` inserts comes directly after the element to its left, before anything that this delta deleted there.
  /// - Complexity: O(n) in the segments of both
  func composed(with next: TextDelta) -> TextDelta {
    if isIdentity { return next }
    if next.isIdentity { return self }
    var first = DeltaReader(segments)
    var second = DeltaReader(next.segments)
    var result = DeltaBuilder()
    while let kind = second.kind {
      if kind == .insert {
        result.insert(second.take(second.remaining))
        continue
      }
      switch first.kind {
      case .delete?: result.delete(first.take(first.remaining))
      case .insert?:
        let count = min(first.remaining, second.remaining)
        if kind == .retain { result.insert(first.take(count)) } else { first.skip(count) }
        second.skip(count)
      case .retain?, nil:
        let count = min(first.remaining, second.remaining)
        if kind == .retain {
          result.retain(count)
          second.skip(count)
        } else {
          result.delete(second.take(count))
        }
        first.skip(count)
      }
    }
    while let kind = first.kind {
      switch kind {
      case .retain:
        result.retain(first.remaining)
        first.skip(first.remaining)
      case .insert: result.insert(first.take(first.remaining))
      case .delete: result.delete(first.take(first.remaining))
      }
    }
    return result.delta
  }

  /// Transforms this delta and `other`, both made in the same text, over each other.
  ///
  /// `mine` does after `other` what this delta does alone, and `theirs` does after this one what `other` does alone; in
  /// both orders the text is the same. Of two insertions at one place, this delta's comes first. What both deleted is
  /// deleted once; what the other inserted inside a part that this one deletes stays.
  /// - Complexity: O(n) in the segments of both
  func transformed(over other: TextDelta) -> (mine: TextDelta, theirs: TextDelta) {
    if isIdentity || other.isIdentity { return (self, other) }
    var left = DeltaReader(segments)
    var right = DeltaReader(other.segments)
    var mine = DeltaBuilder()
    var theirs = DeltaBuilder()
    while left.kind != nil || right.kind != nil {
      if left.kind == .insert {
        theirs.retain(left.remaining)
        mine.insert(left.take(left.remaining))
        continue
      }
      if right.kind == .insert {
        mine.retain(right.remaining)
        theirs.insert(right.take(right.remaining))
        continue
      }
      let count = min(left.remaining, right.remaining)
      switch (left.kind == .delete, right.kind == .delete) {
      case (false, false):
        mine.retain(count)
        theirs.retain(count)
        left.skip(count)
        right.skip(count)
      case (true, false):
        mine.delete(left.take(count))
        right.skip(count)
      case (false, true):
        theirs.delete(right.take(count))
        left.skip(count)
      case (true, true):
        left.skip(count)
        right.skip(count)
      }
    }
    return (mine.delta, theirs.delta)
  }
}
