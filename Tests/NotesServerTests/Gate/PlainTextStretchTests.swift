import Automerge
import Testing

@testable import NotesServer

/// A long text is measured stretch by stretch, wherever its letters begin.
struct PlainTextStretchTests {
  @Test(arguments: ["\u{E9}", "\u{65E5}", "\u{1F600}"], 0..<4) func aLongTextOfOneLetterIsMeasured(
    letter: String, shift: Int
  ) {
    let (count, size) = (1500, letter.utf8.count)
    let text = PlainText(Array((String(repeating: "a", count: shift) + String(repeating: letter, count: count)).utf8))
    #expect(text.measure.scalars == shift + count)
    for number in stride(from: 0, through: count, by: 50) {
      #expect(text.measure(utf8Offset: shift + number * size).scalars == shift + number)
      #expect(text.measure(scalarOffset: shift + number).utf8 == shift + number * size)
    }
  }
}
