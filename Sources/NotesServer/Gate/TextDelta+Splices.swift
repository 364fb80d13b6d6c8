import Automerge

/// One replacement to make in a document's text. In a list each offset counts in the text that those before have left.
struct TextSplice: Hashable, Sendable {
  var utf8Offset: Int
  var deleteUTF8: Int
  var insert: [UInt8]
}

extension TextDelta {
  /// What the edits, each made on the text that those before it left, did together. One that begins where the one before it ends
  /// stands behind what that one has deleted.
  /// - Complexity: O(n) in the edits if they go from left to right
  init(_ edits: some Sequence<TextEdit>) {
    var result = TextDelta.identity
    var builder = Builder()
    var end = -1
    for edit in edits {
      if edit.utf8Offset < end {
        result = result.composed(with: builder.delta)
        builder = Builder()
        end = -1
      }
      builder.retain(edit.utf8Offset - max(0, end))
      builder.insert(TextPiece(edit.inserted))
      builder.delete(TextPiece(edit.deleted))
      end = edit.utf8Offset + edit.inserted.count
    }
    self = result.composed(with: builder.delta)
  }

  /// The delta as replacements to make one after the other.
  ///
  /// Text that stands behind something deleted is inserted while that is still there, so that a CRDT puts it behind the
  /// tombstone and not before it.
  var splices: [TextSplice] {
    var result: [TextSplice] = []
    var offset = 0
    var index = 0
    while index < segments.count {
      if case .retain(let count) = segments[index] {
        offset += count
        index += 1
        continue
      }
      let end = segments[index...].firstIndex { if case .retain = $0 { true } else { false } } ?? segments.count
      offset = appendSplices(of: segments[index..<end], at: offset, to: &result)
      index = end
    }
    return result
  }

  /// Appends the replacements for a group without retains that starts at `start`. Returns where the group ends.
  private func appendSplices(of group: ArraySlice<Segment>, at start: Int, to result: inout [TextSplice]) -> Int {
    if let simple = simpleSplice(of: group, at: start) {
      result.append(simple)
      return start + simple.insert.count
    }
    var offset = start
    for segment in group {
      switch segment {
      case .retain(let count): offset += count
      case .insert(let piece):
        result.append(TextSplice(utf8Offset: offset, deleteUTF8: 0, insert: piece.bytes))
        offset += piece.count
      case .delete(let piece): offset += piece.count
      }
    }
    offset = start
    for segment in group {
      switch segment {
      case .retain(let count): offset += count
      case .insert(let piece): offset += piece.count
      case .delete(let piece): result.append(TextSplice(utf8Offset: offset, deleteUTF8: piece.count, insert: []))
      }
    }
    return offset
  }

  /// The group as one replacement, if nothing is inserted behind something deleted.
  private func simpleSplice(of group: ArraySlice<Segment>, at start: Int) -> TextSplice? {
    var splice = TextSplice(utf8Offset: start, deleteUTF8: 0, insert: [])
    for segment in group {
      switch segment {
      case .retain: return nil
      case .insert(let piece):
        guard splice.deleteUTF8 == 0 else { return nil }
        splice.insert += piece.bytes
      case .delete(let piece): splice.deleteUTF8 += piece.count
      }
    }
    return splice
  }
}
