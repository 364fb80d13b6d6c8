extension TextDelta {
  /// This delta and then `next`, as one.
  ///
  /// What `next` inserts stands right after the element to its left, before anything that this delta deleted there.
  /// - Complexity: O(n) in the segments of both
  func composed(with next: TextDelta) -> TextDelta {
    if isIdentity { return next }
    if next.isIdentity { return self }
    var first = Reader(segments)
    var second = Reader(next.segments)
    var result = Builder()
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

  /// Carries this delta and `other`, both made of the same text, over one another.
  ///
  /// `mine` does after `other` what this delta meant, `theirs` does after this one what `other` meant; either way round the
  /// text is the same. Of two insertions at one place this delta's comes first. What both deleted is deleted once; what the
  /// other inserted inside a part that this one deletes stays.
  /// - Complexity: O(n) in the segments of both
  func transformed(over other: TextDelta) -> (mine: TextDelta, theirs: TextDelta) {
    if isIdentity || other.isIdentity { return (self, other) }
    var left = Reader(segments)
    var right = Reader(other.segments)
    var mine = Builder()
    var theirs = Builder()
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

  private enum Kind { case retain, insert, delete }

  /// Walks segments in portions of any size.
  private struct Reader {
    private let segments: [Segment]
    private var index = 0
    private var taken = 0

    init(_ segments: [Segment]) { self.segments = segments }

    /// What the segment at hand is; nil after the last, where everything stays as it is.
    var kind: Kind? {
      guard index < segments.count else { return nil }
      switch segments[index] {
      case .retain: return .retain
      case .insert: return .insert
      case .delete: return .delete
      }
    }

    /// How many bytes of the segment at hand are left.
    var remaining: Int {
      guard index < segments.count else { return .max }
      switch segments[index] {
      case .retain(let count): return count - taken
      case .insert(let piece), .delete(let piece): return piece.count - taken
      }
    }

    /// Consumes the next `count` bytes of an insertion or deletion.
    mutating func take(_ count: Int) -> TextPiece {
      guard index < segments.count else { return TextPiece([]) }
      let start = taken
      let segment = segments[index]
      skip(count)
      switch segment {
      case .retain: return TextPiece([])
      case .insert(let piece), .delete(let piece): return piece[start..<start + count]
      }
    }

    mutating func skip(_ count: Int) {
      guard index < segments.count else { return }
      if count == remaining {
        index += 1
        taken = 0
      } else {
        taken += count
      }
    }
  }
}
