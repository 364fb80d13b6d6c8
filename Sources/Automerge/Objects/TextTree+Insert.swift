/// Inserting elements.
extension TextTree {
  /// A gap between two elements: after `element` elements of a run; 0 is before the run.
  struct Gap {
    var place: Place
    var element: Int
    /// The element that a new one in this gap is inserted after; zero at the head.
    var reference: OpId
  }

  /// The gap for a local insertion with `amount` visible units before it: directly after the last visible element.
  /// Inside an element of several units, it is the gap after that element.
  func gap(before amount: Int, _ unit: TextUnit) -> Gap {
    var gap = Gap(place: Place(leaf: firstLeaf, run: 0), element: 0, reference: .zero)
    if amount > 0 {
      let (place, start) = locate(amount, unit)
      let run = self[place]
      let (count, _) = elements(covering: amount - start[unit], unit, of: run)
      gap = Gap(place: place, element: count, reference: run.id.advanced(by: count - 1))
    }
    return hasMarks ? pastStickyMarks(gap) : gap
  }

  /// Moves the gap past those marks before the next visible element that grow over text inserted at their edge. Source:
  /// automerge-format, section 6.1, "Sticky marks".
  func pastStickyMarks(_ gap: Gap, at clock: Clock = .now) -> Gap {
    var candidates = StickyMarks()
    var at: Place? = gap.place
    if leaves[Int(gap.place.leaf)].count == 0 {
      at = nil
    } else if gap.element > 0 {
      if isAnyVisible(self[gap.place], from: gap.element, at: clock) { return gap }
      at = next(gap.place)
    }
    while let place = at {
      let run = self[place]
      if run.isIrregular {
        let slot = slots[Int(run.text)]
        if slot.slot.winner(at: clock) != nil { break }
        if let op = slot.slot.first, op.action == .mark, clock.covers(op.id) {
          let begins = op.markName != nil
          let begin = OpId(counter: op.id.counter - 1, actor: op.id.actor)
          let isClosed = !begins && candidates.removeAll(since: begin)
          if !isClosed, begins == op.expand {
            candidates.append(Gap(place: place, element: 1, reference: run.id), behind: op.id)
          }
        }
      } else if isAnyVisible(run, from: 0, at: clock) {
        break
      }
      at = next(place)
    }
    return candidates.last ?? gap
  }

  /// The gap for an insertion that another replica made after `reference`; nil if that element is unknown.
  /// Source: automerge-format, section 6, "Insert (RGA)".
  func gap(behind reference: OpId, inserting id: OpId) -> Gap? {
    var gap = Gap(place: Place(leaf: firstLeaf, run: 0), element: 0, reference: reference)
    if !reference.isZero {
      guard let found = find(reference) else { return nil }
      gap.place = found.place
      gap.element = found.element + 1
    }
    guard leaves[Int(gap.place.leaf)].count > 0 else { return gap }
    if gap.element > 0 {
      let run = self[gap.place]
      if gap.element < Int(run.count) {
        // Ids increase inside a run: if the next element is greater than the new one, so are all that follow in the
        // run.
        if !actors.precedes(id, run.id.advanced(by: gap.element)) { return gap }
        gap.element = Int(run.count)
      }
    }
    var at = gap.element == 0 ? gap.place : next(gap.place)
    while let place = at, actors.precedes(id, self[place].id) {
      gap.place = place
      gap.element = Int(self[place].count)
      at = next(place)
      // Many people may have written at one place; then whole leaves and nodes are skipped.
      if let place = at, place.run == 0, let last = LeastIds(tree: self).lastLeaf(from: place.leaf, after: id) {
        gap.place = Place(leaf: last, run: leaves[Int(last)].count - 1)
        gap.element = Int(self[gap.place].count)
        at = next(gap.place)
      }
    }
    return gap
  }

  /// Whether the element before a gap is deleted.
  func followsDeleted(_ gap: Gap) -> Bool {
    guard gap.element > 0 else { return false }
    let run = self[gap.place]
    return run.isIrregular ? slots[Int(run.text)].slot.winner() == nil : !run.isVisible
  }

  /// Inserts the elements `id`, `id + 1`, … with the scalars of a range of `bytes` as their values.
  /// Returns the gap after them.
  @discardableResult
  func insertText(at gap: Gap, id: OpId, text: Range<Int>, scalars: Int) -> Gap {
    var gap = gap, id = id, start = text.lowerBound, left = scalars
    while left > 0 {
      let end = cut(start, text)
      let piece = TextRun(id: id, origin: gap.reference, text: start, measure: bytes.measure(start..<end))
      gap = insert(piece, at: gap)
      left -= Int(piece.count)
      id = id.advanced(by: Int(piece.count))
      start = end
    }
    return gap
  }

  /// The end of the longest piece of whole scalars from `start` on that fits in one run.
  private func cut(_ start: Int, _ text: Range<Int>) -> Int {
    var end = min(start + TextRun.maximumByteCount, text.upperBound)
    while end < text.upperBound, bytes.bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return end
  }

  /// Inserts one element that is not a plain scalar. Returns the gap after it.
  @discardableResult
  func insertIrregular(at gap: Gap, op: StoredOp) -> Gap {
    changeSlots { $0.append(IrregularElement(Slot(ops: [op]))) }
    if op.action == .mark { hasMarks = true }
    return insert(TextRun(irregular: op.id, origin: gap.reference, slot: slots.count - 1), at: gap)
  }

  /// Inserts a run and returns the gap after it.
  func insert(_ new: TextRun, at gap: Gap) -> Gap {
    var place = gap.place
    let added = sums(of: new)
    let isHinted = hint.leaf == place.leaf
    let hintedRun = isHinted && hint.run == place.run
    if gap.element > 0 {
      var run = self[place]
      if gap.element == Int(run.count) {
        if run.canMerge(new) {
          run.merge(new)
          self[place] = run
          assign(new.id, count: Int(new.count), leaf: place.leaf)
          add(added, to: place.leaf)
          if !isHinted { hint.leaf = Self.none }
          if hint.run > place.run { hint.run = -1 }
          return Gap(place: place, element: Int(run.count), reference: new.lastId)
        }
        let runStart = hintedRun ? hint.runStart + sums(of: run) : nil
        place.run += 1
        openGap(&place, count: 1)
        if let runStart {
          hint.run = place.run
          hint.runStart = runStart
        }
      } else {
        let rest = run.split(at: gap.element, bytes: bytes)
        let runStart = hintedRun ? hint.runStart + sums(of: run) : nil
        let moved = sums(of: rest), old = place.leaf
        self[place] = run
        place.run += 1
        add(TextSums.zero - moved, to: old)
        openGap(&place, count: 2)
        runs[slot(place.leaf, place.run + 1)] = rest
        if place.leaf != old { assign(rest.id, count: Int(rest.count), leaf: place.leaf) }
        add(moved, to: place.leaf)
        if let runStart {
          hint.run = place.run
          hint.runStart = runStart
        }
      }
    } else {
      openGap(&place, count: 1)
    }
    self[place] = new
    if !leaves[Int(place.leaf)].least.isZero { LeastIds(tree: self).lower(leaf: place.leaf, to: new.id) }
    assign(new.id, count: Int(new.count), leaf: place.leaf)
    add(added, to: place.leaf)
    if hint.leaf != place.leaf { hint.leaf = Self.none }
    return Gap(place: place, element: Int(new.count), reference: new.lastId)
  }
}
