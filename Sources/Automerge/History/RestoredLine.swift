/// Finds out what has become of the line that a piece of restored text was in.
///
/// Others may have deleted the line since. Restored where it was, the piece would stand in the line behind, or before.
struct RestoredLine {
  let pieces: RestoredPlace

  private var tree: TextTree { pieces.tree }
  /// The state without the changes that are being reverted.
  private var after: Clock { pieces.after }

  enum Fate {
    case there
    /// The line is gone, and with it what had taken the place of the piece.
    case goneWithReplacement
    /// The line is gone with its line end: the piece would stand before what follows it.
    case goneBeforeText
    /// The line is gone with the line end before it: the piece would stand behind what precedes it.
    case goneBehindText
  }

  /// So many runs of a line are examined in each direction.
  private static let maximumRunCount = 64

  /// - Complexity: O(k + log n) for k runs of the line, up to a limit, among n
  func fate(ofPieceFrom first: OpId, to last: OpId) -> Fate {
    guard let start = tree.find(first), let end = tree.find(last) else { return .there }
    let before = look(from: start.place, forward: false, start.element)
    guard before.end != .sameLine else { return .there }
    let behind = look(from: end.place, forward: true, end.element + 1)
    guard behind.end != .sameLine else { return .there }
    let isGone = behind.isLineEndGone || before.end == .otherLine
    if isGone, before.isReplaced || behind.isReplaced { return .goneWithReplacement }
    switch (before.end, behind.end) {
    case (.ownLine, .ownLine): return .there
    case (_, .ownLine): return .goneBehindText
    case (.ownLine, _): return .goneBeforeText
    default: return .there
    }
  }

  /// What is found beside the piece on one side.
  private struct Side {
    enum End {
      /// Text of its line, or text that is being undone.
      case sameLine
      /// A line end, or an end of the text.
      case ownLine
      /// Text of another line, whose line end is deleted.
      case otherLine
    }

    var end = End.ownLine
    /// Whether the line end on this side is deleted.
    var isLineEndGone = false
    /// Whether something that the reverted changes inserted in the line is deleted.
    var isReplaced = false
  }

  /// Some elements of a run that have the same history.
  private struct Stretch {
    var first: OpId
    var text: ArraySlice<UInt8>
    var isShown: Bool
    var willBeShown: Bool
    /// Whether it was not inserted by the reverted changes.
    var stays: Bool
  }

  /// Looks at what is before or behind an element.
  private func look(from place: TextTree.Place, forward: Bool, _ element: Int) -> Side {
    var side = Side(), next: TextTree.Place? = place, element: Int? = element
    for _ in 0..<Self.maximumRunCount {
      guard let at = next else { return side }
      let count = Int(tree[at].count)
      let stretches = stretches(of: at, forward ? (element ?? 0)..<count : 0..<(element ?? count))
      for stretch in forward ? stretches : stretches.reversed() {
        switch (stretch.isShown, stretch.willBeShown) {
        case (true, let willBeShown):
          let isAtLineEnd = (forward ? stretch.text.first : stretch.text.last) == 0x0A
          side.end = willBeShown && isAtLineEnd ? .ownLine : .sameLine
          return side
        case (false, true):
          // It is being restored, too.
          if stretch.text.contains(0x0A) { return side }
        case (false, false):
          // The line ends of what had taken its place are none of its line's.
          guard stretch.stays else {
            side.isReplaced = true
            continue
          }
          guard let lineEnd = lineEnd(in: stretch, forward) else { continue }
          // Unless it is restored already, as a copy.
          side.isLineEndGone = pieces.visibleCopy(of: lineEnd) == nil
          if side.isLineEndGone { side.end = end(beyond: at, forward) }
          return side
        }
      }
      element = nil
      next = forward ? tree.next(at) : previous(at)
    }
    side.end = .sameLine
    return side
  }

  /// What is shown beyond a deleted line end, which is in this run.
  private func end(beyond place: TextTree.Place, _ forward: Bool) -> Side.End {
    let offset = tree.start(of: place)[.utf8]
    if forward { return offset < tree.total[.utf8] ? .otherLine : .ownLine }
    return offset == 0 || tree.utf8(offset - 1..<offset) == [0x0A] ? .ownLine : .otherLine
  }

  /// The line end that comes first.
  private func lineEnd(in stretch: Stretch, _ forward: Bool) -> OpId? {
    let text = stretch.text
    guard let place = forward ? text.firstIndex(of: 0x0A) : text.lastIndex(of: 0x0A) else { return nil }
    return stretch.first.advanced(by: text[..<place].count { $0 & 0xC0 != 0x80 })
  }

  /// Some elements of a run, from front to back.
  private func stretches(of place: TextTree.Place, _ elements: Range<Int>) -> [Stretch] {
    if elements.isEmpty { return [] }
    let run = tree[place]
    if run.isIrregular {
      let element = tree.slots[Int(run.text)], then = element.shown(at: after)
      return [
        Stretch(
          first: run.id, text: (then.isEmpty ? element.shown : then)[...], isShown: !element.shown.isEmpty,
          willBeShown: !then.isEmpty, stays: after.covers(run.id))
      ]
    }
    var found: [Stretch] = [], at = elements.lowerBound
    while at < elements.upperBound {
      let (willBeShown, same) = tree.history(of: run, from: at, clock: after)
      let count = min(same, elements.upperBound - at)
      let start = run.isASCII ? run.textStart + at : tree.bytes.advance(run.textStart, scalars: at)
      let end = run.isASCII ? start + count : tree.bytes.advance(start, scalars: count)
      found.append(
        Stretch(
          first: run.id.advanced(by: at), text: tree.bytes.bytes[start..<end], isShown: run.isVisible,
          willBeShown: willBeShown, stays: after.covers(run.id.advanced(by: at))))
      at += count
    }
    return found
  }

  /// The run before; nil at the beginning.
  private func previous(_ place: TextTree.Place) -> TextTree.Place? {
    if place.run > 0 { return TextTree.Place(leaf: place.leaf, run: place.run - 1) }
    var child = place.leaf, node = tree.leaves[Int(child)].parent
    while node != TextTree.none {
      let base = Int(node) * TextTree.nodeCapacity
      var at = 0
      while tree.children[base + at] != child { at += 1 }
      if at > 0 {
        var last = tree.children[base + at - 1]
        while !tree.nodes[Int(node)].isBottom {
          node = last
          last = tree.children[Int(node) * TextTree.nodeCapacity + tree.nodes[Int(node)].count - 1]
        }
        return TextTree.Place(leaf: last, run: tree.leaves[Int(last)].count - 1)
      }
      (child, node) = (node, tree.nodes[Int(node)].parent)
    }
    return nil
  }
}
