import TestSupport
import Testing

@testable import NotesServer

struct TextDiffTests {
  /// The delta as text: `=3` keeps three bytes, `+x` inserts x, `-x` deletes x.
  private func diff(
    _ old: String, _ new: String, placement: TextDiff.Placement = .beforeDeleted
  ) -> [String] {
    TextDiff.delta(from: Array(old.utf8), to: Array(new.utf8), placement: placement).segments.map { segment in
      switch segment {
      case .retain(let count): "=\(count)"
      case .insert(let piece): "+" + String(decoding: piece.bytes, as: UTF8.self)
      case .delete(let piece): "-" + String(decoding: piece.bytes, as: UTF8.self)
      }
    }
  }

  @Test func equalTextsHaveNoDifference() { #expect(diff("same\n", "same\n") == []) }

  @Test func onlyWhatDiffersIsReplaced() {
    #expect(diff("hello wrld\n", "hello world\n") == ["=7", "+o"])
    #expect(diff("a\nb\nc\n", "a\nc\n") == ["=2", "-b\n"])
    #expect(diff("", "x") == ["+x"])
    #expect(diff("x", "") == ["-x"])
  }

  @Test func scalarsAreNeverSplit() {
    #expect(diff("é", "è") == ["+è", "-é"])
    #expect(diff("a👨b", "a👩b") == ["=1", "+👩", "-👨"])
    #expect(diff("中", "丮") == ["+丮", "-中"])
  }

  @Test func precomposedAndDecomposedLettersDiffer() { #expect(diff("é", "e\u{301}") == ["+e\u{301}", "-é"]) }

  @Test func aSubstitutionOnEveryLineKeepsTheRest() {
    #expect(
      diff("one foo two\nkeep\nfoo end\n", "one bar two\nkeep\nbar end\n")
        == ["=4", "+bar", "-foo", "=10", "+bar", "-foo"])
  }

  @Test func noStrayLetterIsAnAnchor() { #expect(diff("abcdefg", "xbyzdwv") == ["+xbyzdwv", "-abcdefg"]) }

  private func lineDiff(_ old: String, _ new: String) -> [String] { diff(old, new, placement: .withinLines) }

  /// Another person may have written a line above or below it, or deleted the old one.
  @Test func inAWholeTextALineThatSharesNoWordWithTheOldOneReplacesItAsAWhole() {
    #expect(lineDiff("a\nold\nb\n", "a\nnew\nb\n") == ["=2", "-old\n", "+new\n"])
    #expect(lineDiff("a\nold\nb\n", "a\nnew\nmore\nb\n") == ["=2", "-old\n", "+new\nmore\n"])
    #expect(lineDiff("old\nother\nb\n", "new\nb\n") == ["-old\nother\n", "+new\n"])
    #expect(lineDiff("old", "new") == ["-o", "+new", "-ld"])
  }

  @Test func inAWholeTextSomeLettersThatALineSharesWithAnotherDoNotMakeItThatLineRewritten() {
    #expect(
      lineDiff("a\nuydebaab\nb\n", "a\nhtzylitv\nnbluydzn\nb\n")
        == ["=2", "-uydebaab\n", "+htzylitv\nnbluydzn\n"])
    #expect(lineDiff("- buy tea\nb\n", "- call eva\nb\n") == ["-- buy tea\n", "+- call eva\n"])
    #expect(
      lineDiff("a\nstart\nb\n", "a\njrgwvltf\nlstahzfe\nb\n") == ["=2", "-start\n", "+jrgwvltf\nlstahzfe\n"])
  }

  @Test func inAWholeTextARewrittenLineKeepsWhatItShares() {
    #expect(lineDiff("to be\nother\nb\n", "to do\nb\n") == ["=3", "+do", "-be", "=1", "-other\n"])
    #expect(lineDiff("the cat sat there\nb\n", "the dog ran\nb\n").first == "=4")
    #expect(lineDiff("bold\nb\n", "sold\nb\n") == ["-b", "+s"])
    #expect(lineDiff("te\nb\n", "teapots\nb\n") == ["=2", "+apots"])
    #expect(lineDiff("start\nb\n", "milk\nrestart\nb\n") == ["+milk\nre"])
    #expect(lineDiff("中文字\nb\n", "中文句\nb\n") == ["=6", "+句", "-字"])
  }

  @Test func anInsertedLineStartsAtALineStart() {
    #expect(diff("foo bar\n", "foo\nfoo bar\n") == ["+foo\n"])
    #expect(diff("a\n\nb\n\nc\n", "a\n\nx\n\nb\n\nc\n") == ["=3", "+x\n\n"])
  }

  @Test func fillingAParagraphKeepsItsWords() {
    let words = (0..<400).map { "word\($0)" }
    var (old, new) = ("", "")
    for (index, word) in words.enumerated() {
      old += word + (index % 10 == 9 ? "\n" : " ")
      new += word + (index % 7 == 6 ? "\n" : " ")
    }
    let delta = TextDiff.delta(from: Array(old.utf8), to: Array(new.utf8), placement: .beforeDeleted)
    let gone = delta.segments.reduce(0) { if case .delete(let piece) = $1 { $0 + piece.count } else { $0 } }
    #expect(delta.applied(to: Array(old.utf8)) == Array(new.utf8))
    #expect(gone < 120)
  }

  @Test(arguments: UInt64(0)..<400) func theDifferenceLeadsToTheNewText(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let size = Int.random(in: 0...120, using: &generator)
    let old = Array(RandomText.make(upTo: size, using: &generator).utf8)
    let new =
      Bool.random(using: &generator)
      ? Array(RandomText.make(upTo: size, using: &generator).utf8)
      : RandomText.delta(of: old, using: &generator).applied(to: old)
    let delta = TextDiff.delta(from: old, to: new, placement: .beforeDeleted)
    #expect(delta.applied(to: old) == new, "seed \(seed)")
    #expect(delta.inverted.applied(to: new) == old, "seed \(seed)")
    for segment in delta.segments {
      switch segment {
      case .retain: break
      case .insert(let piece), .delete(let piece):
        #expect(String(validating: piece.bytes, as: UTF8.self) != nil, "seed \(seed)")
      }
    }
  }

  @Test(arguments: ["sorted", "reversed", "unrelated", "one letter", "rewrapped", "two letters", "lines of few kinds"])
  func theWorkIsBounded(kind: String) {
    var generator = SeededGenerator(seed: 7)
    func line(_ letters: ClosedRange<UInt8>) -> [UInt8] {
      (0..<49).map { _ in
        UInt8.random(in: 0..<6, using: &generator) == 0 ? 0x20 : .random(in: letters, using: &generator)
      }
        + [0x0A]
    }
    let lines = (0..<500).map { _ in line(0x61...0x7A) }
    let old = Array(lines.joined())
    let new: [UInt8] =
      switch kind {
      case "sorted": Array(lines.sorted { $0.lexicographicallyPrecedes($1) }.joined())
      case "reversed": Array(lines.reversed().joined())
      case "unrelated": Array((0..<500).map { _ in line(0x41...0x5A) }.joined())
      case "one letter": [UInt8](repeating: 0x61, count: 25_000)
      case "rewrapped": Array(old.map { $0 == 0x0A ? 0x20 : $0 == 0x20 ? 0x0A : $0 })
      case "two letters": (0..<25_000).map { _ in .random(in: 0x61...0x62, using: &generator) }
      default: (0..<500).flatMap { _ in lines[Int.random(in: 0..<7, using: &generator)] }
      }
    let (delta, time) = ProcessorTime.inThisThread { TextDiff.delta(from: old, to: new, placement: .beforeDeleted) }
    #expect(delta.applied(to: old) == new)
    // Generous: this is for work that grows with the square. In a release build forty times the text takes 0.1 s.
    #expect(time < 20, "\(kind) took \(time) s")
    let again = ProcessorTime.inThisThread { TextDiff.delta(from: new, to: old, placement: .beforeDeleted) }.seconds
    #expect(again < 20, "\(kind) backwards took \(again) s")
  }

  /// Then one long line is in a pair with each of the short ones.
  @Test(arguments: [true, false]) func theWorkIsBoundedWhenAParagraphOfOneLineIsFilledInAWholeText(isFilled: Bool) {
    let words = (0..<40_000).map { "word\($0)" }
    let line = Array((words.joined(separator: " ") + "\n").utf8)
    var paragraph = line
    for place in line.indices where line[place] == 0x20 && place % 80 < 10 { paragraph[place] = 0x0A }
    let (old, new) = isFilled ? (line, paragraph) : (paragraph, line)
    let (delta, seconds) = ProcessorTime.inThisThread { TextDiff.delta(from: old, to: new) }
    #expect(delta.applied(to: old) == new)
    // Generous: this is for work that grows with the square.
    #expect(seconds < 20, "\(seconds) s")
  }
}
