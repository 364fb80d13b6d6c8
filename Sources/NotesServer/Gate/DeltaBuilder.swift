/// Collects the segments of a delta, from left to right, and keeps them normal: none is empty, and no two neighbours
/// are of one kind.
struct DeltaBuilder {
  private(set) var segments: [TextDelta.Segment] = []

  mutating func retain(_ count: Int) {
    guard count > 0 else { return }
    if case .retain(let before)? = segments.last {
      segments[segments.count - 1] = .retain(before + count)
    } else {
      segments.append(.retain(count))
    }
  }

  mutating func insert(_ piece: TextPiece) {
    guard piece.count > 0 else { return }
    if case .insert(let before)? = segments.last {
      segments[segments.count - 1] = .insert(before + piece)
    } else {
      segments.append(.insert(piece))
    }
  }

  mutating func delete(_ piece: TextPiece) {
    guard piece.count > 0 else { return }
    if case .delete(let before)? = segments.last {
      segments[segments.count - 1] = .delete(before + piece)
    } else {
      segments.append(.delete(piece))
    }
  }

  mutating func append(_ segment: TextDelta.Segment) {
    switch segment {
    case .retain(let count): retain(count)
    case .insert(let piece): insert(piece)
    case .delete(let piece): delete(piece)
    }
  }

  /// Appends a delta of a part that has `count` bytes before it.
  mutating func append(_ delta: TextDelta, spanning count: Int) {
    var consumed = 0
    for segment in delta.segments {
      append(segment)
      switch segment {
      case .retain(let count): consumed += count
      case .insert: break
      case .delete(let piece): consumed += piece.count
      }
    }
    retain(count - consumed)
  }

  /// The delta of everything collected.
  var delta: TextDelta { TextDelta(normal: segments) }
}
