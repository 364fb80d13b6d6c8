extension TextDelta {
  /// This delta with every replaced part reduced to the difference. The resulting text is the same.
  var refined: TextDelta { refined(atMost: .max) }

  /// Like `refined`, but only for replaced parts of at most this many bytes, old and new together.
  func refined(atMost byteCount: Int) -> TextDelta {
    var builder = DeltaBuilder()
    var (inserts, deletes): ([TextPiece], [TextPiece]) = ([], [])
    func flush() {
      if inserts.isEmpty || deletes.isEmpty {
        for piece in inserts { builder.insert(piece) }
        for piece in deletes { builder.delete(piece) }
      } else if (inserts + deletes).reduce(0, { $0 + $1.count }) > byteCount {
        for piece in inserts { builder.insert(piece) }
        for piece in deletes { builder.delete(piece) }
      } else {
        let (old, new) = (deletes.flatMap(\.bytes), inserts.flatMap(\.bytes))
        builder.append(TextDiff.delta(from: old, to: new, placement: .beforeDeleted), spanning: old.count)
      }
      (inserts, deletes) = ([], [])
    }
    for segment in segments {
      switch segment {
      case .retain(let count):
        flush()
        builder.retain(count)
      case .insert(let piece): inserts.append(piece)
      case .delete(let piece): deletes.append(piece)
      }
    }
    flush()
    return builder.delta
  }

  /// How many bytes were deleted.
  var deletedBytes: Int {
    segments.reduce(0) { sum, segment in
      if case .delete(let piece) = segment { sum + piece.count } else { sum }
    }
  }

  /// How many bytes were inserted and deleted.
  var changedBytes: Int {
    segments.reduce(0) { sum, segment in
      switch segment {
      case .retain: sum
      case .insert(let piece), .delete(let piece): sum + piece.count
      }
    }
  }

  /// Whether this delta and `other`, made in the same text, both delete at least one common byte.
  func deletesSome(ofDeletedBy other: TextDelta) -> Bool {
    let ranges = other.deletedRanges
    var next = 0
    for range in deletedRanges {
      while next < ranges.count, ranges[next].upperBound <= range.lowerBound { next += 1 }
      if next < ranges.count, ranges[next].overlaps(range) { return true }
    }
    return false
  }

  private var deletedRanges: [Range<Int>] {
    var offset = 0
    return segments.compactMap { segment in
      switch segment {
      case .retain(let count): offset += count
      case .insert: break
      case .delete(let piece):
        offset += piece.count
        return offset - piece.count..<offset
      }
      return nil
    }
  }

  /// For two texts of which neither is newer: a delta that only adds to the old text what it lacks of the new one, and
  /// the delta from the new text to that union.
  var keepingBoth: (added: TextDelta, lacking: TextDelta) {
    var (added, lacking) = (DeltaBuilder(), DeltaBuilder())
    for segment in segments {
      switch segment {
      case .retain(let count):
        added.retain(count)
        lacking.retain(count)
      case .insert(let piece):
        added.insert(piece)
        lacking.retain(piece.count)
      case .delete(let piece):
        added.retain(piece.count)
        lacking.insert(piece)
      }
    }
    return (added.delta, lacking.delta)
  }
}
