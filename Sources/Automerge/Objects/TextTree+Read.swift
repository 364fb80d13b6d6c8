/// Reading the text, now and at past states.
extension TextTree {
  /// Calls `body` with every run in document order.
  func forEachRun(_ body: (TextRun) -> Void) { forEachRun { run, _ in body(run) } }

  /// Calls `body` with every run in document order and its index in `runs`, valid until the next change.
  @inline(__always)
  func forEachRun(_ body: (TextRun, _ index: Int) -> Void) {
    var leaf = firstLeaf
    while leaf != Self.none {
      for run in 0..<leaves[Int(leaf)].count { body(runs[slot(leaf, run)], slot(leaf, run)) }
      leaf = leaves[Int(leaf)].next
    }
  }

  /// What a run shows.
  func text(of run: TextRun) -> ArraySlice<UInt8> {
    if run.isIrregular { return slots[Int(run.text)].shown[...] }
    return run.isVisible ? bytes.bytes[run.textStart..<run.textEnd] : []
  }

  /// The text between two UTF-8 offsets.
  func utf8(_ range: Range<Int>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    guard !range.isEmpty else { return result }
    let (first, start) = locate(range.lowerBound + 1, .utf8)
    var place: Place? = first
    var offset = start[.utf8]
    while let at = place, offset < range.upperBound {
      let shown = text(of: self[at])
      let from = max(range.lowerBound - offset, 0), to = min(range.upperBound - offset, shown.count)
      if from < to { result.append(contentsOf: shown[shown.startIndex + from..<shown.startIndex + to]) }
      offset += shown.count
      place = next(at)
    }
    return result
  }

  /// The edits that turned the text at `clock` into the present one, from left to right. An edit that begins where the
  /// one before it ends comes after what that one deleted.
  /// - Complexity: O(n) in the runs.
  func edits(since clock: Clock, object: ObjId) -> [TextEdit] {
    var edits: [TextEdit] = []
    var edit = TextEdit(object: object, utf8Offset: 0, deleted: [], inserted: [])
    var offset = 0
    func insert(_ text: ArraySlice<UInt8>) {
      if !edit.deleted.isEmpty, !text.isEmpty { keep(0) }
      edit.inserted += text
    }
    func keep(_ count: Int) {
      if !edit.deleted.isEmpty || !edit.inserted.isEmpty { edits.append(edit) }
      offset += edit.inserted.count + count
      edit = TextEdit(object: object, utf8Offset: offset, deleted: [], inserted: [])
    }
    forEachRun { run in
      if run.isIrregular {
        let irregular = slots[Int(run.text)], before = irregular.shown(at: clock)
        if before == irregular.shown {
          if !before.isEmpty { keep(before.count) }
        } else {
          insert(irregular.shown[...])
          edit.deleted += before
        }
        return
      }
      var element = 0, start = run.textStart
      while element < Int(run.count) {
        let (was, same) = history(of: run, from: element, clock: clock)
        let end = run.isASCII ? start + same : bytes.advance(start, scalars: same)
        switch (was, run.isVisible) {
        case (true, true): keep(end - start)
        case (true, false): edit.deleted += bytes.bytes[start..<end]
        case (false, true): insert(bytes.bytes[start..<end])
        case (false, false): break
        }
        element += same
        start = end
      }
    }
    keep(0)
    return edits
  }

  /// Whether an element of a plain run was visible at a past state, and for how many elements from there on this is the
  /// same.
  func history(of run: TextRun, from element: Int, clock: Clock) -> (visible: Bool, count: Int) {
    let inserted = clock.coverage(from: run.id.advanced(by: element), step: 1, count: Int(run.count) - element)
    if !inserted.isIn || run.isVisible { return (inserted.isIn, inserted.count) }
    let deleted = clock.coverage(from: run.deletion(of: element), step: Int(run.step), count: inserted.count)
    return (!deleted.isIn, deleted.count)
  }

  // MARK: Cursors

  /// The operation whose element covers the unit after `amount` units: the one that won there.
  func operation(at amount: Int, _ unit: TextUnit) -> OpId {
    let (place, start) = locate(amount + 1, unit)
    let run = self[place]
    if run.isIrregular { return slots[Int(run.text)].slot.winner()?.id ?? run.id }
    let (count, _) = elements(covering: amount + 1 - start[unit], unit, of: run)
    return run.id.advanced(by: count - 1)
  }

  /// The present position of an operation's element: what is visible before it. If the element is deleted, that of the
  /// next visible element, or of the nearest visible one before if `movingBefore`.
  func position(of operation: OpId, movingBefore: Bool) -> TextSums? {
    guard var (place, element) = find(updates[operation] ?? operation) else { return nil }
    while true {
      let run = self[place]
      let isShown = run.isIrregular ? slots[Int(run.text)].sums.elements > 0 : run.isVisible
      if isShown || !movingBefore {
        let before = start(of: place)
        guard isShown, !run.isIrregular else { return before }
        return before + TextSums(measure(ofFirst: element, of: run), elements: element)
      }
      // Runs are deleted as a whole, so the whole run can be skipped.
      guard let behind = find(run.origin) else { return TextSums.zero }
      (place, element) = behind
    }
  }
}
