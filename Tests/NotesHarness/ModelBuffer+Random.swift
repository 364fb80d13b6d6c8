extension ModelBuffer {
  private static let pieces = [
    "a", "b", "the ", "word", "\n", "\n\n", "é", "ß", "漢字", "😀", "👩‍👩‍👧", "e\u{301}", "- item\n", "# Heading\n", " ", "\t",
    "ال", "x", "y", "z", "🇨🇭",
  ]

  /// Does one thing that a person or an editor does.
  public func performRandomStep(using random: inout SplitMix64) {
    switch random.below(100) {
    case 0..<60: typeSomething(using: &random)
    case 60..<70: deleteSomething(using: &random)
    case 70..<73: replaceSomething(using: &random)
    case 73:
      edit(text.bytes.count..<text.bytes.count, with: String(repeating: "pasted line\n", count: random.below(200)))
    case 74: isUnsafe = true
    case 75..<80: isUnsafe = false
    case 80..<90: flush()
    case 90: flush(asFullText: true)
    case 91..<96: sendCursor(at: text.scalarStart(at: random.below(text.bytes.count + 1)))
    default: acknowledge()
    }
    if !isUnsafe, random.chance(50) { flush() }
  }

  private func typeSomething(using random: inout SplitMix64) {
    let offset = text.scalarStart(at: random.below(text.bytes.count + 1))
    edit(offset..<offset, with: Self.pieces[random.below(Self.pieces.count)])
  }

  private func deleteSomething(using random: inout SplitMix64) {
    // Rarely deletes much, so that the text grows on the whole.
    let start = text.scalarStart(at: random.below(text.bytes.count + 1))
    let length = random.chance(5) ? random.below(400) : random.below(12)
    edit(start..<text.scalarStart(at: start + length), with: "")
  }

  private func replaceSomething(using random: inout SplitMix64) {
    let start = text.scalarStart(at: random.below(text.bytes.count + 1))
    edit(
      start..<text.scalarStart(at: start + random.below(60)), with: Self.pieces[random.below(Self.pieces.count)] + "new"
    )
  }
}
