/// All operations on one element of a sequence, and what the element shows now.
struct IrregularElement {
  var slot: Slot
  /// The element's text; empty while nothing is visible.
  private(set) var shown: [UInt8]
  private(set) var sums: TextSums
  /// The operation that is shown.
  private var winner: OpId?

  init(_ slot: Slot) {
    self.slot = slot
    (shown, sums) = ([], .zero)
    refresh()
  }

  /// Call when `slot` has changed.
  mutating func refresh() {
    guard let winner = slot.winner() else {
      (shown, sums, self.winner) = ([], .zero, nil)
      return
    }
    // Its text may be long, and many operations follow one another.
    guard winner.id != self.winner else { return }
    self.winner = winner.id
    shown = winner.textUTF8
    sums = TextSums(ofElement: shown)
  }

  /// The element's text at a past state.
  func shown(at clock: Clock) -> [UInt8] { slot.winner(at: clock)?.textUTF8 ?? [] }
}

extension TextSums {
  /// The sums of one element that shows `text`. In a list, any element counts as one.
  init(ofElement text: [UInt8]) {
    self.init(TextMeasure(of: text), elements: 1)
    if scalars != 1 { graphemes = Int32(String(decoding: text, as: UTF8.self).count) }
  }
}
