/// Finding places by what was visible at a past state, in O(n) in the runs, or in the elements where this is said.
extension TextTree {
  /// The gap for an insertion with `amount` units before it; see `gap(before:_:)`.
  func gap(before amount: Int, _ unit: TextUnit, at clock: Clock) -> Gap {
    var gap = Gap(place: Place(leaf: firstLeaf, run: 0), element: 0, reference: .zero)
    if amount > 0, let id = slot(at: amount - 1, unit, clock: clock)?.first?.id, let found = find(id) {
      gap = Gap(place: found.place, element: found.element + 1, reference: id)
    }
    return hasMarks ? pastStickyMarks(gap, at: clock) : gap
  }

  /// What was visible before an element of a run.
  func sums(before place: Place, _ element: Int, at clock: Clock) -> TextSums {
    var sum = TextSums.zero
    var at = first
    while let each = at, each.leaf != place.leaf || each.run != place.run {
      add(self[each], at: clock, to: &sum, elements: Int(self[each].count))
      at = next(each)
    }
    add(self[place], at: clock, to: &sum, elements: element)
    return sum
  }

  /// Adds what the first elements of a run showed.
  private func add(_ run: TextRun, at clock: Clock, to sum: inout TextSums, elements: Int) {
    if elements == 0 { return }
    if run.isIrregular {
      guard let winner = slots[Int(run.text)].slot.winner(at: clock) else { return }
      sum += TextSums(ofElement: winner.textUTF8)
      return
    }
    var element = 0, start = run.textStart
    while element < elements {
      let (isVisible, same) = history(of: run, from: element, clock: clock)
      let count = min(same, elements - element)
      let end = run.isASCII ? start + count : bytes.advance(start, scalars: count)
      if isVisible { sum += TextSums(bytes.measure(start..<end), elements: count) }
      element += count
      start = end
    }
  }

  func isVisible(_ place: Place, _ element: Int, at clock: Clock) -> Bool {
    let run = self[place]
    if run.isIrregular { return slots[Int(run.text)].slot.winner(at: clock) != nil }
    return history(of: run, from: element, clock: clock).visible
  }

  /// Whether anything of a run, from an element on, was visible.
  func isAnyVisible(_ run: TextRun, from first: Int, at clock: Clock) -> Bool {
    if run.isIrregular { return first == 0 && slots[Int(run.text)].slot.winner(at: clock) != nil }
    var element = first
    while element < Int(run.count) {
      let (isVisible, same) = history(of: run, from: element, clock: clock)
      if isVisible { return true }
      element += same
    }
    return false
  }

  /// Calls `body` with the visible elements and how much each shows, until it returns false.
  /// - Complexity: O(n) in the elements.
  func forEachElement(at clock: Clock, _ body: (OpId, TextSums) -> Bool) {
    forEachStretch(at: clock) { stretch in
      switch stretch {
      case .plain(let first, let count, let text):
        var start = text.lowerBound
        for element in 0..<count {
          let end = bytes.advance(start, scalars: 1)
          guard body(first.advanced(by: element), TextSums(bytes.measure(start..<end), elements: 1)) else {
            return false
          }
          start = end
        }
        return true
      case .irregular(let slot, let winner):
        return slot.first.map { body($0.id, TextSums(ofElement: winner.textUTF8)) } ?? true
      case .mark: return true
      }
    }
  }

  /// A range of UTF-8 widened to whole elements of several scalars, and what it takes in by that at both ends.
  func widened(_ range: Range<Int>, at clock: Clock) -> (range: Range<Int>, head: [UInt8], tail: [UInt8]) {
    var (from, to) = (range.lowerBound, range.upperBound), head: [UInt8] = [], tail: [UInt8] = [], offset = 0
    forEachStretch(at: clock) { stretch in
      let end = offset + sums(of: stretch)[.utf8]
      if case .irregular(_, let winner) = stretch {
        if offset < range.lowerBound, range.lowerBound < end {
          (from, head) = (offset, Array(winner.textUTF8.prefix(range.lowerBound - offset)))
        }
        let isCut = offset < range.upperBound || (offset == range.upperBound && from < range.lowerBound)
        if isCut, range.upperBound < end {
          (to, tail) = (end, Array(winner.textUTF8.dropFirst(range.upperBound - offset)))
        }
      }
      offset = end
      return offset < range.upperBound
    }
    return (from..<to, head, tail)
  }
}
