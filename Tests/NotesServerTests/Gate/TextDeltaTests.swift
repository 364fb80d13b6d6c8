import Automerge
import TestSupport
import Testing

@testable import NotesServer

struct TextDeltaTests {
  @Test(arguments: UInt64(0)..<300) func composingInvertingAndSplicesAgreeWithApplying(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let text = Array(RandomText.make(upTo: 20, using: &generator).utf8)
    let first = RandomText.delta(of: text, using: &generator)
    let middle = first.applied(to: text)
    let second = RandomText.delta(of: middle, using: &generator)
    let end = second.applied(to: middle)
    let both = first.composed(with: second)
    #expect(both.applied(to: text) == end, "seed \(seed)")
    #expect(both.inverted.applied(to: end) == text, "seed \(seed)")
    #expect(both.growth == end.count - text.count, "seed \(seed)")
    #expect(both.refined.applied(to: text) == end, "seed \(seed)")
    var array = ArrayText(text)
    let edits = array.make(both.splices)
    #expect(array.bytes == end, "seed \(seed)")
    #expect(TextDelta(edits).applied(to: text) == end, "seed \(seed)")
  }

  @Test(arguments: UInt64(0)..<300) func twoDeltasCarriedOverOneAnotherMeet(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let text = Array(RandomText.make(upTo: 20, using: &generator).utf8)
    let left = RandomText.delta(of: text, using: &generator)
    let right = RandomText.delta(of: text, using: &generator)
    let (mine, theirs) = left.transformed(over: right)
    #expect(
      mine.applied(to: right.applied(to: text)) == theirs.applied(to: left.applied(to: text)), "seed \(seed)")
  }

  @Test func insertionsOfTheLeftSideComeFirst() {
    let left = TextDelta(utf8Offset: 1, deleted: [], inserted: Array("L".utf8))
    let right = TextDelta(utf8Offset: 1, deleted: [], inserted: Array("R".utf8))
    let (mine, _) = left.transformed(over: right)
    #expect(mine.applied(to: Array("aRb".utf8)) == Array("aLRb".utf8))
  }

  @Test func whatStandsBehindATombstoneIsInsertedBehindIt() {
    // In "xab|y" the text N goes between a and b, and then a goes.
    let insert = TextDelta(utf8Offset: 2, deleted: [], inserted: Array("N".utf8))
    let delete = TextDelta(utf8Offset: 1, deleted: Array("a".utf8), inserted: [])
    #expect(
      insert.composed(with: delete).splices == [
        TextSplice(utf8Offset: 2, deleteUTF8: 0, insert: Array("N".utf8)),
        TextSplice(utf8Offset: 1, deleteUTF8: 1, insert: []),
      ])
  }

  @Test func placesInsideDeletedTextCollapse() {
    let delta = TextDelta(utf8Offset: 2, deleted: Array("cd".utf8), inserted: Array("XYZ".utf8))
    #expect((0...6).map(delta.map) == [0, 1, 2, 5, 5, 6, 7])
  }
}

struct TextViewTests {
  @Test(arguments: UInt64(0)..<200) func aViewAnswersAsItsTextWould(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let base = ArrayText(RandomText.make(upTo: 20, using: &generator))
    let delta = RandomText.delta(of: base.bytes, using: &generator)
    let view = TextView(of: base, through: delta)
    let plain = ArrayText(delta.applied(to: base.bytes))
    #expect(view.measure == plain.measure, "seed \(seed)")
    #expect(view.allUTF8 == plain.bytes, "seed \(seed)")
    for offset in 0...plain.bytes.count + 1 {
      #expect(view.measure(utf8Offset: offset) == plain.measure(utf8Offset: offset), "seed \(seed)")
      #expect(view.measure(scalarOffset: offset) == plain.measure(scalarOffset: offset), "seed \(seed)")
      #expect(view.measure(utf16Offset: offset) == plain.measure(utf16Offset: offset), "seed \(seed)")
    }
    for line in 0...plain.measure.newlines + 1 {
      #expect(view.measure(line: line) == plain.measure(line: line), "seed \(seed)")
    }
    let range = RandomText.range(in: plain.bytes, using: &generator)
    #expect(view.utf8(range) == plain.utf8(range), "seed \(seed)")
  }
}

struct PositionTests {
  private let text = ArrayText("a𝄞é\n\nb")

  @Test(arguments: [
    (PositionEncoding.utf8, [0, 1, 1, 1, 1, 5, 5, 7, 7, 7]), (.utf16, [0, 1, 1, 5, 7, 7, 7, 7, 7, 7]),
    (.utf32, [0, 1, 5, 7, 7, 7, 7, 7, 7, 7]),
  ]) func columnsAreClampedToScalarsAndLines(encoding: PositionEncoding, expected: [Int]) {
    #expect(
      (0...9).map { text.utf8Offset(of: Position(line: 0, character: $0), in: encoding) } == expected)
  }

  @Test(arguments: PositionEncoding.allCases) func linesAreClampedToTheText(encoding: PositionEncoding) {
    #expect(text.utf8Offset(of: Position(line: 1, character: .max), in: encoding) == 8)
    #expect(text.utf8Offset(of: Position(line: 2, character: 0), in: encoding) == 9)
    #expect(text.utf8Offset(of: Position(line: 2, character: 7), in: encoding) == 10)
    #expect(text.utf8Offset(of: Position(line: 3, character: 0), in: encoding) == 10)
    #expect(text.utf8Offset(of: Position(line: .max, character: .max), in: encoding) == 10)
    #expect(text.utf8Offset(of: Position(line: -1, character: 5), in: encoding) == 0)
    #expect(text.utf8Offset(of: Position(line: 0, character: -5), in: encoding) == 0)
  }

  @Test(arguments: PositionEncoding.allCases) func offsetsAndPositionsAreInverse(encoding: PositionEncoding) {
    for offset in [0, 1, 5, 7, 8, 9, 10] {
      #expect(text.utf8Offset(of: text.position(utf8Offset: offset, in: encoding), in: encoding) == offset)
    }
  }
}
