import Automerge
import TestSupport
import Testing

@testable import NotesServer

struct FileMergeTests {
  private func merge(_ base: String, ours: String, theirs: String) -> String {
    let (base, ours, theirs) = (Array(base.utf8), Array(ours.utf8), Array(theirs.utf8))
    let way = TextDiff.delta(from: base, to: ours, finest: .words)
    let merge = FileMerge(base: base, way: way, document: ours, file: theirs)
    let merged = TextDelta(merge.splices, in: ours).applied(to: ours)
    #expect(merge.lacking.applied(to: theirs) == merged, "the way from the file leads to the document")
    return String(decoding: merged, as: UTF8.self)
  }

  /// A person who deletes one of these lines in a buffer with the file's text deletes it from the note.
  @Test(arguments: [
    ("tea\nham\nmilk\n", "tea\noats\nmilk\n", "tea\nmilk\nbread\n"),
    ("a\nold\nb\nc\n", "x\na\nnew\nb\ny\nc\nz\n", "a\nb\nmore\nc\nlast\n"),
  ])
  func theWayFromTheFileKeepsItsNewLines(base: String, ours: String, theirs: String) {
    let (base, ours, theirs) = (Array(base.utf8), Array(ours.utf8), Array(theirs.utf8))
    let way = TextDiff.delta(from: base, to: ours, finest: .words)
    let merge = FileMerge(base: base, way: way, document: ours, file: theirs)
    #expect(merge.lacking.deletedBytes == 0)
  }

  @Test(arguments: [
    ("a\nb\n", "x a\nb\n", "a\nb\nc\n", "x a\nb\nc\n"),
    ("a\nb\n", "a\nb\n", "a\n", "a\n"),
    // A line that one side changed and the other deleted stays.
    ("a\nb\nc\n", "a\nb mine\nc\n", "a\nc\n", "a\nb mine\nc\n"),
    ("a\n", "a\nmine\n", "a\ntheirs\n", "a\ntheirs\nmine\n"),
    // The same editor wrote the file a moment ago.
    ("a\n", "a\nmine\n", "a\nmine\n", "a\nmine\n"),
    ("a\n", "a\nmine\nmore\n", "a\nmine\n", "a\nmine\nmore\n"),
    ("a\nb\n", "a\n", "a\n", "a\n"),
    ("milk\n", "oat milk\n", "oat milk\n", "oat milk\n"),
    ("", "a\n", "a\n", "a\n"),
    // The same editor wrote it, then another program did while the person kept typing.
    ("a\n", "a\ntyped\nlater\n", "a\ntyped\noutside\n", "a\ntyped\noutside\nlater\n"),
    ("a\n", "a\nlater\ntyped\n", "a\noutside\ntyped\n", "a\noutside\nlater\ntyped\n"),
    ("a\n", "a\ntyped\n", "a\noutside\ntyped\n", "a\noutside\ntyped\n"),
    ("a\n", "a\nunmine\n", "a\nmine\n", "a\nmine\nunmine\n"),
    // The same editor wrote it, and another program wrote into the middle of that text.
    (
      "a\nb\n", "a\none\ntwo\nthree\nb\n", "a\none\noutside\ntwo\nmore\nthree\nb\n",
      "a\none\noutside\ntwo\nmore\nthree\nb\n"
    ),
    ("a\n", "a\none\nlater\ntwo\n", "a\nfirst\none\ntwo\noutside\n", "a\nfirst\none\nlater\ntwo\noutside\n"),
    // A killed process had merged it. The person has deleted a line there, and another program has written beside it
    // since.
    ("start\n", "tea\nmine\n", "outside\ntea\nstart\n", "outside\ntea\nmine\n"),
    // Blank lines alone do not show that the same editor wrote it.
    ("a\n", "a\nmine\n\nmore\n", "a\ntheirs\n\nother\n", "a\ntheirs\n\nother\nmine\n\nmore\n"),
    // The one replaced a line, the other wrote a line beside it.
    ("old\nb\n", "mine\nold\nb\n", "new\nb\n", "mine\nnew\nb\n"),
    ("old\nb\n", "old\nmine\nb\n", "new\nb\n", "new\nmine\nb\n"),
    ("bold\nb\n", "mine\nbold\nb\n", "sold\nb\n", "mine\nsold\nb\n"),
    ("to be\nold\nb\n", "to be\nmine\nold\nb\n", "to do\nb\n", "to do\nmine\nb\n"),
    // One side replaced a line by others that share words with it, and the other side deleted the line.
    ("a\nline 3 eggs\nb\n", "a\nb\n", "a\nline 9 eggs\nline 13 eggs\nb\n", "a\nline 9 eggs\nline 13 eggs\nb\n"),
    ("line 1 tea\nline 5 milk\n", "", "line 15 tea\n", "line 15 tea\n"),
    ("a\nline 1 tea\nline 2 tea\n", "a\nline 2 tea\n", "a\nline 9 eggs\n", "a\nline 9 eggs\n"),
    // Each side replaced the line by one that shares words with it.
    ("a\nline 10 eggs\nb\n", "a\nline 12 milk\nb\n", "a\nline 14 eggs\nb\n", "a\nline 12 milk\nline 14 eggs\nb\n"),
    // Both replaced the same word of a line, or neighbouring ones; or words that are apart.
    ("eat at ten\n", "eat at six\n", "eat at two\n", "eat at six\neat at two\n"),
    ("eat at ten now\n", "eat at six now\n", "eat at ten then\n", "eat at six now\neat at ten then\n"),
    ("meet Bob at ten\n", "meet Bob at six\n", "meet Ben at ten\n", "meet Ben at six\n"),
    ("buy mi today\n", "buy milk today\n", "buy mint today\n", "buy milk today\nbuy mint today\n"),
    // A program corrected a word of a short line, and the person went on with the line.
    ("a\ndelta four\nb\n", "a\ndelta four peer words\nb\n", "a\nDELTA four\nb\n", "a\nDELTA four peer words\nb\n"),
    ("meating Bob\n", "meating Bob at ten\n", "meeting Bob\n", "meeting Bob at ten\n"),
    ("buy tea\n", "buy tea and sugar\n", "feed cat\n", "buy tea and sugar\nfeed cat\n"),
    // A paragraph that one side wrapped anew, and the other corrected.
    (
      "one two three four\nfive six seven eight\n", "one two three\nfour five six\nseven eight\n",
      "one two three four\nfive six 7 eight\n", "one two three\nfour five six\n7 eight\n"
    ),
    // Both replaced the same line.
    ("a\nold\nb\n", "a\nmine\nmore\nb\n", "a\ntheirs\nb\n", "a\ntheirs\nmine\nmore\nb\n"),
    ("a quick fox\n", "a quick brown fox\n", "a fast fox\n", "a fast brown fox\n"),
    // The person typed on in a last line without a line feed, and another program appended lines to it.
    ("a\nmi", "a\nmilk", "a\nmi\ntheirs\n", "a\nmilk\ntheirs\n"),
    ("te", "tea\nx\n", "te\nbread\n", "tea\nbread\nx\n"),
    ("a\ntea", "a\ntea\nx\n", "a\ntea\nbread\n", "a\ntea\nbread\nx\n"),
    ("a\ntea", "a\nwith tea", "a\ntea\nbread\n", "a\nwith tea\nbread\n"),
    ("a\ntea", "a\n", "a\ntea\nbread\n", "a\n\nbread\n"),
  ]) func whatBothSidesDidIsInTheMerge(base: String, ours: String, theirs: String, merged: String) {
    #expect(merge(base, ours: ours, theirs: theirs) == merged)
  }

  /// Another person deletes a line, and this is heard only after a file was merged in which that line reads differently.
  /// Nothing in the file tells whether the line is the old one, changed, or a new one in its place. It counts as changed,
  /// or it would lose what others type into it meanwhile; so if it was new, only the letters that differ stay.
  @Test func ofALineThatIsDeletedMeanwhileWhatWasChangedInItStays() throws {
    let base = Array("line 10 eggs\nkeep\nline 2 tea\nend\n".utf8)
    let ours = Array("line 12 milk\nkeep\nline 2 tea\nend\n".utf8)
    let document = Document()
    let content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: content, utf8Offset: 0, deleteUTF8: 0, insert: ours)
    let (deleting, typing) = (document.fork(), document.fork())
    try deleting.spliceText(obj: content, utf8Offset: 18, deleteUTF8: 11, insert: [])
    try typing.spliceText(obj: content, utf8Offset: 25, deleteUTF8: 0, insert: Array("green ".utf8))
    let way = TextDiff.delta(from: base, to: ours, finest: .words)
    let file = Array("line 14 eggs\nkeep\nline 23 tea\nend\n".utf8)
    for splice in FileMerge(base: base, way: way, document: ours, file: file).splices {
      try document.spliceText(
        obj: content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
    try deleting.merge(other: document)
    #expect(try deleting.text(obj: content) == "line 12 milk\nline 14 eggs\nkeep\n3end\n")
    try typing.merge(other: document)
    #expect(try typing.text(obj: content) == "line 12 milk\nline 14 eggs\nkeep\nline 23 green tea\nend\n")
  }

  @Test(arguments: UInt64(0)..<300) func noWordOfEitherSideIsLost(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let base = (0..<Int.random(in: 0...12, using: &random)).map { "line \($0)" }
    func edited(by name: String) -> (text: String, words: [String]) {
      var lines = base
      var words: [String] = []
      for number in 0..<Int.random(in: 0...4, using: &random) {
        let word = "<\(name)\(number)>"
        let place = Int.random(in: 0...lines.count, using: &random)
        if place < lines.count, Bool.random(using: &random) {
          lines[place] += word
          words.append(word)
        } else if place < lines.count, !lines[place].contains("<"), Bool.random(using: &random) {
          lines.remove(at: place)
        } else {
          lines.insert(word, at: place)
          words.append(word)
        }
      }
      return (lines.map { $0 + "\n" }.joined(), words)
    }
    let (ours, theirs) = (edited(by: "mine"), edited(by: "theirs"))
    let merged = merge(base.map { $0 + "\n" }.joined(), ours: ours.text, theirs: theirs.text)
    for word in ours.words + theirs.words {
      #expect(merged.components(separatedBy: word).count == 2, "\(word) in \(merged), seed \(seed)")
    }
  }

  @Test(arguments: UInt64(0)..<300) func aLineThatBothSidesAddedStandsOnce(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let base = (0..<Int.random(in: 0...6, using: &random)).map { "line \($0)" }
    var words: [String] = []
    func edited(_ lines: [String], by name: String) -> [String] {
      var lines = lines
      for number in 0..<Int.random(in: 0...6, using: &random) {
        let place = Int.random(in: 0...lines.count, using: &random)
        if place < lines.count, !lines[place].contains("<"), Bool.random(using: &random) {
          lines.remove(at: place)
        } else {
          lines.insert("<\(name)\(number)>", at: place)
          words.append("<\(name)\(number)>")
        }
      }
      return lines
    }
    func text(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }
    let both = edited(base, by: "both")
    let (ours, theirs) = (edited(both, by: "mine"), edited(both, by: "theirs"))
    let merged = merge(text(base), ours: text(ours), theirs: text(theirs))
    for word in words { #expect(merged.components(separatedBy: word).count == 2, "\(word) in \(merged), seed \(seed)") }
  }
}
