/// Typing and backspacing where the last edit was: no look-up, no split, one run changed in place.
///
/// Both are only shortcuts. They apply when the general insertion or deletion would give the same runs, and leave
/// everything else to it.
extension TextTree {
  /// Inserts text that continues the hinted run at its end in every respect; returns the element it was inserted
  /// after, or nil if the text does not continue that run.
  @inline(__always)
  func extendHintedRun(
    before amount: Int, _ unit: TextUnit, id: OpId, text: Int, measure: TextMeasure
  ) -> OpId? {
    guard hint.leaf != Self.none, hint.run >= 0, !hasMarks else { return nil }
    let run = runs.pointer(to: slot(hint.leaf, hint.run))
    let count = Int(run.pointee.count)
    guard run.pointee.isVisible, !run.pointee.isIrregular, run.pointee.id.actor == id.actor,
      Int(run.pointee.id.counter) + count == Int(id.counter), run.pointee.textEnd == text,
      Int(run.pointee.utf8) + measure.utf8 <= TextRun.maximumByteCount,
      amount == hint.runStart[unit] + run.pointee.units(unit)
    else { return nil }
    run.pointee.count += UInt16(measure.scalars)
    run.pointee.utf8 += UInt16(measure.utf8)
    run.pointee.utf16 += UInt16(measure.utf16)
    run.pointee.newlines += UInt16(measure.newlines)
    assign(id, count: measure.scalars, leaf: hint.leaf)
    add(TextSums(measure, elements: measure.scalars), to: hint.leaf)
    return OpId(counter: id.counter - 1, actor: id.actor)
  }

  /// Deletes the last element of the hinted run by moving it into the deleted run after it, whose deletions it extends
  /// as backspacing does. Returns that element, or nil if the run after it is not of this kind.
  @inline(__always)
  func shrinkHintedRun(before amount: Int, _ unit: TextUnit, by deletion: OpId) -> OpId? {
    guard hint.leaf != Self.none, hint.run >= 0, hint.run + 1 < leaves[Int(hint.leaf)].count else { return nil }
    let run = runs.pointer(to: slot(hint.leaf, hint.run)), next = run + 1
    let count = Int(run.pointee.count)
    guard count > 1, run.pointee.isVisible, !run.pointee.isIrregular, run.pointee.isASCII,
      amount == hint.runStart[unit] + run.pointee.units(unit), unit != .newlines,
      !next.pointee.isIrregular, !next.pointee.isVisible, next.pointee.id.actor == run.pointee.id.actor,
      Int(next.pointee.id.counter) == Int(run.pointee.id.counter) + count,
      next.pointee.origin == run.pointee.lastId, next.pointee.textStart == run.pointee.textEnd,
      Int(next.pointee.utf8) < TextRun.maximumByteCount,
      next.pointee.deletion.actor == deletion.actor, next.pointee.deletion.counter == deletion.counter - 1,
      next.pointee.count == 1 || next.pointee.step == -1
    else { return nil }
    let element = run.pointee.lastId
    let newlines: UInt16 = bytes.bytes[run.pointee.textEnd - 1] == 0x0A ? 1 : 0
    run.pointee.count -= 1
    run.pointee.utf8 -= 1
    run.pointee.utf16 -= 1
    run.pointee.newlines -= newlines
    next.pointee.id = element
    next.pointee.origin = element.advanced(by: -1)
    next.pointee.deletion = deletion
    next.pointee.step = -1
    next.pointee.text -= 1
    next.pointee.count += 1
    next.pointee.utf8 += 1
    next.pointee.utf16 += 1
    next.pointee.newlines += newlines
    var gone = TextSums(TextMeasure(utf8: 1, scalars: 1, utf16: 1, newlines: Int(newlines)), elements: 1)
    gone = TextSums.zero - gone
    add(gone, to: hint.leaf)
    return element
  }
}

extension TextRun {
  /// The length of a plain run's text.
  @inline(__always)
  func units(_ unit: TextUnit) -> Int {
    switch unit {
    case .utf8: Int(utf8)
    case .scalars, .elements, .graphemes: Int(count)
    case .utf16: Int(utf16)
    case .newlines: Int(newlines)
    }
  }
}
