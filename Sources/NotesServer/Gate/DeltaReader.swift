/// Reads the segments of a delta in portions of any size.
struct DeltaReader {
  enum Kind { case retain, insert, delete }

  private let segments: [TextDelta.Segment]
  private var index = 0
  private var taken = 0

  init(_ segments: [TextDelta.Segment]) { self.segments = segments }

  /// The kind of the current segment; nil after the last, where everything is retained.
  var kind: Kind? {
    guard index < segments.count else { return nil }
    switch segments[index] {
    case .retain: return .retain
    case .insert: return .insert
    case .delete: return .delete
    }
  }

  /// How many bytes of the current segment are left.
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
