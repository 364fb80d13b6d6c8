import TestSupport
import Testing

@testable import Automerge

struct TextMeasureTests {
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func aLongTextIsMeasuredAsItsScalarsAre(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let letters: [Unicode.Scalar] = ["a", "\n", "\u{7F}", "é", "\u{80}", "\u{7FF}", "字", "\u{FFFD}", "😀", "\u{10FFFF}"]
    for length in [0, 1, 7, 8, 9, 63, 500, 5000] {
      var scalars = String.UnicodeScalarView()
      for _ in 0..<length { scalars.append(letters.randomElement(using: &random) ?? "a") }
      let text = String(scalars)
      let expected = TextMeasure(
        utf8: text.utf8.count, scalars: scalars.count, utf16: text.utf16.count,
        newlines: scalars.count { $0 == "\n" })
      #expect(TextMeasure(of: Array(text.utf8)) == expected, "seed \(seed), \(length) scalars")
    }
    let feeds = [UInt8](repeating: 0x0A, count: 8 * 255 * 3 + 5)
    #expect(TextMeasure(of: feeds).newlines == feeds.count)
  }

  @Test func theLineFeedsOfATextAreFoundUpToItsEnd() {
    let text = Array("a\nbc\n\ndefghijklm\n\n\nn\no\n".utf8)
    let bytes = TextBytes()
    let start = bytes.append(text, actor: 0)
    for from in text.indices {
      let feeds = text.indices.filter { $0 >= from && text[$0] == 0x0A }
      for (number, feed) in feeds.enumerated() {
        #expect(bytes.offset(behindNewline: number + 1, from: start + from) == start + feed + 1)
      }
    }
  }
}
