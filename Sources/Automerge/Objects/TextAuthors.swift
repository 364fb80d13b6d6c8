import Foundation

/// Who wrote a text, while no transaction is pending.
struct TextAuthors {
  /// A stretch of the text, in some unit, with the row of the change that wrote it.
  typealias Stretch = (start: Int, end: Int, row: Int)

  private let tree: TextTree
  private let core: DocumentCore
  private let unit: TextUnit

  /// The changes must have their hashes.
  init(of tree: TextTree, in core: DocumentCore, unit: TextUnit) {
    (self.tree, self.core, self.unit) = (tree, core, unit)
    core.lookups.changeLookup.update(from: core.graph)
  }

  func span(of stretch: Stretch) -> BlameSpan {
    let record = core.graph.records[stretch.row]
    return BlameSpan(
      start: UInt64(stretch.start), end: UInt64(stretch.end), change: core.graph.hashes[stretch.row],
      actor: core.actors[record.actor], timestamp: Date(timeIntervalSince1970: Double(record.time)))
  }

  /// The text at a past state.
  func stretches(at clock: Clock) -> [Stretch] {
    var stretches: [Stretch] = [], offset = 0
    func add(_ length: Int, by row: Int) {
      if let last = stretches.last, last.row == row {
        stretches[stretches.count - 1].end += length
      } else {
        stretches.append((offset, offset + length, row))
      }
      offset += length
    }
    tree.forEachStretch(at: clock) { stretch in
      switch stretch {
      case .plain(let first, let count, let text):
        var element = 0, start = text.lowerBound
        while element < count,
          let found = core.lookups.changeLookup.stretch(from: first.advanced(by: element), in: core.graph)
        {
          let length = min(found.count, count - element)
          let end = element + length == count ? text.upperBound : core.bytes.advance(start, scalars: length)
          add(TextSums(core.bytes.measure(start..<end), elements: length)[unit], by: found.row)
          (element, start) = (element + length, end)
        }
      case .irregular(_, let winner):
        if let row = core.lookups.changeLookup.row(of: winner.id) { add(tree.sums(of: stretch)[unit], by: row) }
      case .mark: break
      }
      return true
    }
    return stretches
  }

  /// A part of the present text.
  func stretches(in part: Range<UInt64>) -> [Stretch] {
    let length = tree.total[unit]
    let part = min(Int(clamping: part.lowerBound), length)..<min(Int(clamping: part.upperBound), length)
    guard !part.isEmpty else { return [] }
    var spans: [Stretch] = []
    let (first, before) = tree.locate(part.lowerBound + 1, unit)
    var place: TextTree.Place? = first, offset = before[unit]
    func add(_ length: Int, by row: Int) {
      let (start, end) = (max(offset, part.lowerBound), min(offset + length, part.upperBound))
      offset += length
      guard start < end else { return }
      if let last = spans.last, last.row == row {
        spans[spans.count - 1].end = end
      } else {
        spans.append((start, end, row))
      }
    }
    while let at = place, offset < part.upperBound {
      let run = tree[at]
      if run.isIrregular {
        let irregular = tree.slots[Int(run.text)]
        if let winner = irregular.slot.winner(), let row = core.lookups.changeLookup.row(of: winner.id) {
          add(irregular.sums[unit], by: row)
        }
      } else if run.isVisible {
        // The part may begin in the middle of the run.
        let (covering, isExact) = tree.elements(covering: max(0, part.lowerBound - offset), unit, of: run)
        var element = isExact ? covering : covering - 1
        let skipped = tree.measure(ofFirst: element, of: run)
        offset += TextSums(skipped, elements: element)[unit]
        var start = run.textStart + skipped.utf8
        while element < Int(run.count), offset < part.upperBound,
          let found = core.lookups.changeLookup.stretch(from: run.id.advanced(by: element), in: core.graph)
        {
          let count = min(found.count, Int(run.count) - element)
          let end = run.isASCII ? start + count : core.bytes.advance(start, scalars: count)
          add(run.isASCII ? count : TextSums(core.bytes.measure(start..<end), elements: count)[unit], by: found.row)
          element += count
          start = end
        }
      }
      place = tree.next(at)
    }
    return spans
  }
}
