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

  /// The same for a part of a text. The spans are cut to the part; if it goes beyond the text's end, they end there.
  /// - Complexity: O(log n + k log m) for k runs and spans in the part, of n in the text, among m changes; the first time after
  ///   changes also O(m) in those.
  public func blame(obj: ObjId, in range: Range<UInt64>) throws -> [BlameSpan] {
    try withCore { core in
      core.commitPending()
      let tree = try core.text(obj).tree
      core.computeHashes()
      return core.authors(of: tree, unit: textEncoding.unit, in: range).map(core.blame)
    }
  }

  /// The same for a text as it was at a past state, from front to back.
  /// - Complexity: O(n log m) for n runs and spans among m changes.
  public func blameAt(obj: ObjId, heads: Set<ChangeHash>) throws -> [BlameSpan] {
    try withCore { core in
      core.commitPending()
      let tree = try core.text(obj).tree
      core.computeHashes()
      return core.authors(of: tree, unit: textEncoding.unit, at: core.past(heads)).map(core.blame)
    }
  }

  /// The authors of the changes that one state has and another one lacks.
  /// - Complexity: that of finding both states' changes, and O(n) in the document's authors.
  package func authors(of heads: Set<ChangeHash>, since earlier: Set<ChangeHash>) -> Set<ActorId> {
    withCore { core in
      core.commitPending()
      let (old, new) = (core.past(earlier), core.past(heads))
      let found = (0..<UInt32(core.actors.count)).filter { new.limit(actor: $0) > old.limit(actor: $0) }
      return Set(found.map { core.actors[$0] })
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
  /// A stretch of a text, in some unit, with the row of the change that wrote it.
  fileprivate typealias AuthoredStretch = (start: Int, end: Int, row: Int)

  fileprivate func blame(_ stretch: AuthoredStretch) -> BlameSpan {
    let record = graph.records[stretch.row]
    return BlameSpan(
      start: UInt64(stretch.start), end: UInt64(stretch.end), change: graph.hashes[stretch.row],
      actor: actors[record.actor], timestamp: Date(timeIntervalSince1970: Double(record.time)))
  }

  /// Stretches of a text at a past state. No transaction is pending.
  fileprivate func authors(of tree: TextTree, unit: TextUnit, at clock: Clock) -> [AuthoredStretch] {
    lookups.changeLookup.update(from: graph)
    var stretches: [AuthoredStretch] = [], offset = 0
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
          let found = lookups.changeLookup.stretch(from: first.advanced(by: element), in: graph)
        {
          let length = min(found.count, count - element)
          let end = element + length == count ? text.upperBound : bytes.advance(start, scalars: length)
          add(TextSums(bytes.measure(start..<end), elements: length)[unit], by: found.row)
          (element, start) = (element + length, end)
        }
      case .irregular(_, let winner):
        if let row = lookups.changeLookup.row(of: winner.id) { add(tree.sums(of: stretch)[unit], by: row) }
      case .mark: break
      }
      return true
    }
    return stretches
  }

  /// Stretches of a part of a text. No transaction is pending.
  fileprivate func authors(of tree: TextTree, unit: TextUnit, in part: Range<UInt64>) -> [AuthoredStretch] {
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
