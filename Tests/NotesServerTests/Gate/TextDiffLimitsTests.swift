import Testing

@testable import NotesServer

/// Very long texts, whose comparison is bounded by what it has looked at, and very short ones.
struct TextDiffLimitsTests {
  @Test(arguments: [([], []), ([3], []), ([], [3]), ([3], [4])] as [([Int32], [Int32])])
  func whatIsEqualAtBothEndsIsPaidFor(old: [Int32], new: [Int32]) {
    let (start, end) = ([Int32](repeating: 1, count: 300), [Int32](repeating: 2, count: 200))
    var diff = SequenceDiff(start + old + end, start + new + end, distinct: 5, budget: 1000)
    let matches = diff.run()
    #expect(matches.reduce(0) { $0 + $1.count } == 500)
    #expect(diff.budget <= 500)
  }

  /// Splitting a text into words costs more than comparing them.
  @Test(arguments: [true, false]) func aVeryLongLineIsReplacedBetweenItsFirstAndLastDifference(isVeryLong: Bool) {
    let middle = [UInt8](repeating: UInt8(ascii: ","), count: isVeryLong ? 400_000 : 4000)
    func line(_ first: String, _ last: String) -> [UInt8] { Array(first.utf8) + middle + Array(last.utf8) }
    let (old, new) = (line("old ", " old\n"), line("new ", " new\n"))
    let delta = TextDiff.delta(from: old, to: new, placement: .beforeDeleted)
    #expect(delta.applied(to: old) == new)
    #expect(delta.deletedBytes == (isVeryLong ? old.count - 1 : 6))
  }

  /// The last letters differ, and their last bytes are equal.
  @Test func noLetterOfAVeryLongLineIsSplit() {
    let middle = [UInt8](repeating: UInt8(ascii: ","), count: 400_000)
    let (old, new) = (Array("a".utf8) + middle + "\u{E9}".utf8, Array("b".utf8) + middle + "\u{129}".utf8)
    let delta = TextDiff.delta(from: old, to: new, placement: .beforeDeleted)
    #expect(delta.applied(to: old) == new)
    for case .insert(let piece) in delta.segments {
      #expect(String(validating: piece.bytes, as: UTF8.self) != nil)
    }
  }

  /// A line end stays, and so does a long row of dashes; a single space between two long changes says nothing.
  @Test(arguments: [("\n", true), ("--------------------", true), (" ", false), (" -- ", false)])
  func whatStaysBetweenTwoLongChangesIsWhatAPersonWouldRecognise(between: String, isKept: Bool) {
    func text(_ first: Character, _ last: Character) -> [UInt8] {
      Array((String(repeating: first, count: 40) + between + String(repeating: last, count: 40)).utf8)
    }
    let (old, new) = (text("a", "b"), text("c", "d"))
    let delta = TextDiff.delta(from: old, to: new, placement: .beforeDeleted)
    #expect(delta.applied(to: old) == new)
    #expect(delta.deletedBytes == (isKept ? 80 : old.count))
  }

  @Test(arguments: ["a", "\u{E9}", "\u{65E5}", "\u{1F600}"], ["", "keep\n"]) func theLastLineMayHaveOneLetter(
    letter: String, before: String
  ) {
    for (old, new) in [(letter, "b"), ("x\n" + letter, "b\nc"), (letter, "b\n"), (letter + "\n", "b")] {
      let (old, new) = (Array((before + old).utf8), Array((before + new).utf8))
      for placement in [TextDiff.Placement.beforeDeleted, .withinLines] {
        let delta = TextDiff.delta(from: old, to: new, placement: placement)
        #expect(delta.applied(to: old) == new)
        #expect(delta.inverted.applied(to: new) == old)
      }
    }
  }
}
