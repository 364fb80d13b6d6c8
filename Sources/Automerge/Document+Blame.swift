import Foundation

/// A stretch of a text that one change wrote.
public struct BlameSpan: Hashable, Sendable {
  /// The first unit, in the document's text encoding.
  public let start: UInt64
  /// The first unit after the stretch.
  public let end: UInt64
  /// The change that wrote the present text of the stretch.
  public let change: ChangeHash
  /// The author of the change.
  public let actor: ActorId
  /// The time by the author's clock, in whole seconds.
  public let timestamp: Date

  public init(start: UInt64, end: UInt64, change: ChangeHash, actor: ActorId, timestamp: Date) {
    (self.start, self.end, self.change, self.actor, self.timestamp) = (start, end, change, actor, timestamp)
  }
}

extension Document {
  /// The authors and times of a text: spans from front to back that cover all of it. Neighbouring spans are from
  /// different changes.
  /// - Complexity: O(n log m) for n runs and spans among m changes.
  public func blame(obj: ObjId) throws -> [BlameSpan] { try blame(obj: obj, in: 0..<UInt64.max) }

  /// The same of a part of a text. The spans are cut to the part, and what of it is beyond the text's end is left out.
  /// - Complexity: O(log n + k log m) for k runs and spans in the part, of n in the text, among m changes; the first time after
  ///   changes also O(m) in those.
  public func blame(obj: ObjId, in range: Range<UInt64>) throws -> [BlameSpan] {
    try withCore { core in
      core.commitPending()
      let tree = try core.text(obj).tree
      core.computeHashes()
      return core.authors(of: tree, unit: textEncoding.unit, in: range).map { span in
        let record = core.graph.records[span.row]
        return BlameSpan(
          start: UInt64(span.start), end: UInt64(span.end), change: core.graph.hashes[span.row],
          actor: core.actors[record.actor], timestamp: Date(timeIntervalSince1970: Double(record.time)))
      }
    }
  }
}

extension Document {
  /// The change that made an object. Nil for the root and for an unknown object.
  /// - Complexity: O(log m) in the changes of its author; the first time after changes also O(m) in those.
  public func change(thatMade obj: ObjId) -> Change? {
    withCore { core in
      core.commitPending()
      guard obj != .ROOT, let id = core.opId(obj) else { return nil }
      core.computeHashes()
      core.lookups.changeLookup.update(from: core.graph)
      return core.lookups.changeLookup.row(of: id).map { core.change(ofRow: $0) }
    }
  }
}

extension DocumentCore {
  /// Stretches of a part of a text, in some unit, with the row of the change that wrote each. No transaction is pending.
  fileprivate func authors(
    of tree: TextTree, unit: TextUnit, in part: Range<UInt64>
  ) -> [(start: Int, end: Int, row: Int)] {
    lookups.changeLookup.update(from: graph)
    let length = tree.total[unit]
    let part = min(Int(clamping: part.lowerBound), length)..<min(Int(clamping: part.upperBound), length)
    guard !part.isEmpty else { return [] }
    var spans: [(start: Int, end: Int, row: Int)] = []
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
        if let winner = irregular.slot.winner(), let row = lookups.changeLookup.row(of: winner.id) {
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
          let found = lookups.changeLookup.stretch(from: run.id.advanced(by: element), in: graph)
        {
          let count = min(found.count, Int(run.count) - element)
          let end = run.isASCII ? start + count : bytes.advance(start, scalars: count)
          add(run.isASCII ? count : TextSums(bytes.measure(start..<end), elements: count)[unit], by: found.row)
          element += count
          start = end
        }
      }
      place = tree.next(at)
    }
    return spans
  }
}
