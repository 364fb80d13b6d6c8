import Automerge
import TestSupport
import Testing

@testable import NotesServer

/// A text of plain bytes has the same measures as any other text.
struct PlainTextTests {
  @Test(arguments: [51, 52, 53] as [UInt64]) func everyMeasureIsThatOfTheSimplerText(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let scalars = ["a", "é", "日", "😀", "\n", "\u{301}"]
    let text = (0..<Int.random(in: 0...3000, using: &random)).map { _ in scalars.randomElement(using: &random) ?? "" }
    let simple = ArrayText(text.joined())
    let plain = PlainText(simple.bytes)
    #expect(plain.measure == simple.measure, "seed \(seed)")
    #expect(plain.allUTF8 == simple.bytes, "seed \(seed)")
    for _ in 0..<200 {
      let offset = Int.random(in: -2...simple.bytes.count + 2, using: &random)
      #expect(plain.measure(utf8Offset: offset) == simple.measure(utf8Offset: offset), "\(offset), seed \(seed)")
      #expect(plain.measure(scalarOffset: offset) == simple.measure(scalarOffset: offset), "\(offset), seed \(seed)")
      #expect(plain.measure(utf16Offset: offset) == simple.measure(utf16Offset: offset), "\(offset), seed \(seed)")
    }
    for line in 0...simple.measure.newlines + 1 {
      #expect(plain.measure(line: line) == simple.measure(line: line), "line \(line), seed \(seed)")
    }
  }
}
