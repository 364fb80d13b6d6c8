/// The story of one element of a sequence, and what it shows now.
struct IrregularElement {
  var slot: Slot
  /// What stands in a text here; empty while nothing is visible.
  private(set) var shown: [UInt8]
  private(set) var sums: TextSums

  init(_ slot: Slot) {
    self.slot = slot
    (shown, sums) = ([], .zero)
    refresh()
  }

  /// Takes account of a change of `slot`.
  mutating func refresh() {
    guard let winner = slot.winner() else {
      (shown, sums) = ([], .zero)
      return
    }
    shown = winner.textUTF8
    sums = TextSums(ofElement: shown)
  }

  /// What stood in a text here at a past state.
  func shown(at clock: Clock) -> [UInt8] { slot.winner(at: clock)?.textUTF8 ?? [] }
}

extension TextSums {
  /// Of one element that shows `text`. An element counts as one in a list whatever it is.
  init(ofElement text: [UInt8]) {
    self.init(TextMeasure(of: text), elements: 1)
    if scalars != 1 { graphemes = Int32(String(decoding: text, as: UTF8.self).count) }
  }
}
