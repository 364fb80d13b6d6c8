/// The visible content of a sequence, now or at a past state, in stretches that need not be examined element by
/// element.
extension TextTree {
  enum Stretch {
    /// Elements of a plain run, from the one with the id `first` on, that show `text` of the tree's bytes.
    case plain(first: OpId, count: Int, text: Range<Int>)
    /// One irregular element, and its winning operation.
    case irregular(Slot, winner: StoredOp)
    /// The beginning or the end of a mark.
    case mark(StoredOp)
  }

  /// Calls `body` with what is visible at `clock`, in document order, until it returns false.
  /// - Complexity: O(n) in the runs.
  func forEachStretch(at clock: Clock, _ body: (Stretch) -> Bool) {
    var place = first
    while let at = place {
      guard forEachStretch(of: self[at], at: clock, body) else { return }
      place = next(at)
    }
  }

  private func forEachStretch(of run: TextRun, at clock: Clock, _ body: (Stretch) -> Bool) -> Bool {
    if run.isIrregular {
      let slot = slots[Int(run.text)].slot
      if let op = slot.first, op.action == .mark {
        let isThere = clock.covers(op.id) && !op.successors.contains { clock.covers($0) }
        return isThere ? body(.mark(op)) : true
      }
      guard let winner = slot.winner(at: clock) else { return true }
      return body(.irregular(slot, winner: winner))
    }
    var element = 0, start = run.textStart
    while element < Int(run.count) {
      let (isVisible, same) = history(of: run, from: element, clock: clock)
      let end =
        element + same == Int(run.count)
        ? run.textEnd : run.isASCII ? start + same : bytes.advance(start, scalars: same)
      if isVisible {
        let stretch = Stretch.plain(first: run.id.advanced(by: element), count: same, text: start..<end)
        guard body(stretch) else { return false }
      }
      element += same
      start = end
    }
    return true
  }

  /// How much a stretch shows.
  func sums(of stretch: Stretch) -> TextSums {
    switch stretch {
    case .plain(_, let count, let text): TextSums(bytes.measure(text), elements: count)
    case .irregular(_, let winner): TextSums(ofElement: winner.textUTF8)
    case .mark: .zero
    }
  }

  func sums(at clock: Clock) -> TextSums {
    var total = TextSums.zero
    forEachStretch(at: clock) { stretch in
      total += sums(of: stretch)
      return true
    }
    return total
  }

  /// The text at a past state.
  func utf8(at clock: Clock) -> [UInt8] {
    var text: [UInt8] = []
    forEachStretch(at: clock) { stretch in
      switch stretch {
      case .plain(_, _, let range): text += bytes.bytes[range]
      case .irregular(_, let winner): text += winner.textUTF8
      case .mark: break
      }
      return true
    }
    return text
  }

  /// The slot of the element that covered the unit after `index` units at a past state; nil past the end.
  func slot(at index: Int, _ unit: TextUnit, clock: Clock) -> Slot? {
    var found: Slot?
    var left = index
    forEachStretch(at: clock) { stretch in
      let amount = sums(of: stretch)[unit]
      if left >= amount {
        left -= amount
        return true
      }
      switch stretch {
      case .plain(let first, let count, let text):
        let run = TextRun(id: first, origin: .zero, text: text.lowerBound, measure: bytes.measure(text))
        found = slot(of: run, elements(covering: left + 1, unit, of: run).count - 1)
        precondition(count == Int(run.count), "elements of a run are scalars")
      case .irregular(let slot, _): found = slot
      case .mark: break
      }
      return false
    }
    return found
  }
}
