import Automerge

/// One replacement to make in a document's text. In a list, each offset refers to the text after the earlier
/// replacements.
struct TextSplice: Hashable, Sendable {
  var utf8Offset: Int
  var deleteUTF8: Int
  var insert: [UInt8]
}

extension TextDelta {
  /// The combined effect of edits, each made in the text after the earlier ones. An edit that begins where the one
  /// before it ends comes after what that one deleted.
  /// - Complexity: O(n) in the edits if they go from left to right
  init(_ edits: some Sequence<TextEdit>) {
    var result = TextDelta.identity
    var builder = DeltaBuilder()
    var end = -1
    for edit in edits {
      if edit.utf8Offset < end {
        result = result.composed(with: builder.delta)
        builder = DeltaBuilder()
        end = -1
      }
      builder.retain(edit.utf8Offset - max(0, end))
      builder.insert(TextPiece(edit.inserted))
      builder.delete(TextPiece(edit.deleted))
      end = edit.utf8Offset + edit.inserted.count
    }
    self = result.composed(with: builder.delta)
  }

  /// The combined effect of consecutive replacements in a text.
  ///
  /// - Complexity: O(n) in the text and the replacements if these go from left to right; else O(n) for each that does not
  init(_ splices: [TextSplice], in text: [UInt8]) {
    var (result, builder, text) = (TextDelta.identity, DeltaBuilder(), text)
    // Where the last replacement ended, in `text` and behind that replacement; what follows is the same in both.
    var (end, newEnd) = (0, 0)
    for splice in splices {
      if splice.utf8Offset < newEnd {
        text = builder.delta.applied(to: text)
        (result, builder, end, newEnd) = (result.composed(with: builder.delta), DeltaBuilder(), 0, 0)
      }
      let start = min(end + splice.utf8Offset - newEnd, text.count)
      builder.retain(start - end)
      builder.insert(TextPiece(splice.insert))
      newEnd += start - end + splice.insert.count
      end = min(start + splice.deleteUTF8, text.count)
      builder.delete(TextPiece(Array(text[start..<end])))
    }
    self = result.composed(with: builder.delta)
  }

  /// The delta as replacements to make one after another.
  ///
  /// Text that comes after something deleted is inserted before the deletion, so that a CRDT puts it after the
  /// tombstone and not before it.
  var splices: [TextSplice] {
    var writer = SpliceWriter()
    for segment in segments { writer.append(segment) }
    return writer.finished()
  }
}

/// Writes a delta as replacements: everything inserted and deleted between two retained parts is one group.
private struct SpliceWriter {
  private var splices: [TextSplice] = []
  private var group: [TextDelta.Segment] = []
  /// Where the group begins in the text after the replacements so far.
  private var offset = 0

  mutating func append(_ segment: TextDelta.Segment) {
    guard case .retain(let count) = segment else { return group.append(segment) }
    endGroup()
    offset += count
  }

  mutating func finished() -> [TextSplice] {
    endGroup()
    return splices
  }

  private mutating func endGroup() {
    defer { group = [] }
    if group.isEmpty { return }
    if let simple = simpleSplice() {
      splices.append(simple)
      offset += simple.insert.count
      return
    }
    var place = offset
    for segment in group {
      switch segment {
      case .retain(let count): place += count
      case .insert(let piece):
        splices.append(TextSplice(utf8Offset: place, deleteUTF8: 0, insert: piece.bytes))
        place += piece.count
      case .delete(let piece): place += piece.count
      }
    }
    for segment in group {
      switch segment {
      case .retain(let count): offset += count
      case .insert(let piece): offset += piece.count
      case .delete(let piece): splices.append(TextSplice(utf8Offset: offset, deleteUTF8: piece.count, insert: []))
      }
    }
  }

  /// The group as one replacement, if nothing is inserted after something deleted.
  private func simpleSplice() -> TextSplice? {
    var splice = TextSplice(utf8Offset: offset, deleteUTF8: 0, insert: [])
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
