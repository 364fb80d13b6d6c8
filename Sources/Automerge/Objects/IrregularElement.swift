/// All operations on one element of a sequence, and what the element shows now.
struct IrregularElement {
  var slot: Slot
  /// The element's text; empty while nothing is visible.
  private(set) var shown: [UInt8]
  private(set) var sums: TextSums

  init(_ slot: Slot) {
    self.slot = slot
    (shown, sums) = ([], .zero)
    refresh()
  }

  /// Call when `slot` has changed.
  mutating func refresh() {
    guard let winner = slot.winner() else {
      (shown, sums) = ([], .zero)
      return
    }
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
