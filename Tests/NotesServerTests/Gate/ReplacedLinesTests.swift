import Automerge
import TestSupport
import Testing

@testable import NotesServer

/// An editor replaces lines by others while another person's line is on its way to it: no two lines become one.
struct ReplacedLinesTests {
  /// A document, and one editor's buffer of it, which has not received what other people wrote.
  private struct Desk {
    var document: ArrayText
    var buffer: OpenBuffer

    init(_ text: String, gate: OpenBuffer.Gate = .notes) {
      document = ArrayText(text)
      buffer = OpenBuffer(version: 1, encoding: .utf8, gate: gate)
    }

    mutating func remote(_ offset: Int, delete count: Int = 0, _ insert: String = "") {
      buffer.documentChanged(
        document.make([TextSplice(utf8Offset: offset, deleteUTF8: count, insert: Array(insert.utf8))]))
    }

    @discardableResult
    mutating func change(_ changes: ContentChange...) -> [TextSplice] {
      let outcome = buffer.didChange(version: buffer.version + 1, rev: 0, changes: changes, source: document)
      guard case .splices(let splices) = outcome else { return [] }
      document.make(splices)
      return splices
    }

    mutating func offer() -> BufferEdit? { buffer.nextOffer(source: document) }

    var text: String { document.string }
    var client: String { String(decoding: buffer.clientText(source: document), as: UTF8.self) }
  }

  private func replace(_ start: (Int, Int), _ end: (Int, Int), _ text: String) -> ContentChange {
    .replace(
      PositionRange(
        start: Position(line: start.0, character: start.1), end: Position(line: end.0, character: end.1)),
      Array(text.utf8))
  }

  @Test func aLineOnItsWayBetweenTwoReplacedOnesStaysALine() {
    var desk = Desk("tea\nham\nend\n")
    desk.remote(4, "eggs\n")
    desk.change(replace((0, 0), (2, 0), "milk\n"))
    #expect(desk.text == "eggs\nmilk\nend\n")
  }

  @Test func aLineOnItsWayAboveAReplacedOneStaysALine() {
    var desk = Desk("tea\nend\n")
    desk.remote(0, "eggs\n")
    desk.change(replace((0, 0), (1, 0), "milk\n"))
    #expect(desk.text == "eggs\nmilk\nend\n")
  }

  @Test func aLineOnItsWayBetweenTheLastLinesStaysALineIfTheyHaveNoLineEnd() {
    var desk = Desk("tea\nham")
    desk.remote(4, "eggs\n")
    desk.change(replace((0, 0), (1, 3), "milk\njam"))
    #expect(desk.text == "eggs\nmilk\njam")
  }

  /// An editor that compares its lines leaves out what the first ones have in common at their start, and the last ones at their end.
  @Test func linesOfWhichAnEditorLeavesOutWhatStaysAreWholeLinesToo() {
    var desk = Desk("- tea\n- ham\nend\n")
    desk.remote(6, "- eggs\n")
    desk.change(replace((0, 2), (1, 5), "milk\n- jam"))
    #expect(desk.text == "- milk\n- eggs\n- jam\nend\n")
    desk = Desk("tea\nham\nend\n")
    desk.remote(4, "eggs\n")
    desk.change(replace((0, 0), (1, 0), "milk\n"), replace((1, 0), (2, 0), "jam\n"))
    #expect(desk.text == "milk\neggs\njam\nend\n")
  }

  @Test func aLineThatMovesIsNotWrittenAnew() {
    var desk = Desk("tea\nham\nend\n")
    let splices = desk.change(replace((0, 0), (1, 3), "ham\ntea"))
    #expect(
      splices == [
        TextSplice(utf8Offset: 0, deleteUTF8: 4, insert: []),
        TextSplice(utf8Offset: 4, deleteUTF8: 0, insert: Array("tea\n".utf8)),
      ])
  }

  @Test func whatReplacesWordsOrASelectionIsPutBeforeThem() {
    var desk = Desk("tea\nham\nend\n")
    #expect(
      desk.change(replace((0, 0), (0, 3), "m")) == [TextSplice(utf8Offset: 0, deleteUTF8: 3, insert: Array("m".utf8))])
    #expect(
      desk.change(replace((0, 0), (2, 0), "x")) == [TextSplice(utf8Offset: 0, deleteUTF8: 6, insert: Array("x".utf8))])
    desk = Desk("tea\nham\nend\n")
    #expect(
      desk.change(replace((0, 0), (0, 3), "x\n"))
        == [TextSplice(utf8Offset: 0, deleteUTF8: 3, insert: Array("x\n".utf8))])
  }

  @Test func changesOfTheSameLinesBeforeAndAfterAreMadeToo() {
    var desk = Desk("- tea\n- ham\nend\n")
    desk.change(
      replace((0, 0), (0, 1), "*"), replace((0, 2), (1, 5), "milk\n- jam"), replace((1, 5), (1, 5), "s"),
      replace((1, 0), (1, 1), "*"), replace((0, 6), (1, 2), "\n+ "), replace((0, 0), (0, 0), "1"))
    #expect(desk.text == "1* milk\n+ jams\nend\n")
    desk = Desk("a\nb\nc\nd\ne\n")
    desk.change(
      replace((3, 0), (5, 0), "D\nE\n"), replace((1, 1), (3, 0), "\nC\n"), replace((0, 0), (1, 1), "A\nB"),
      replace((0, 1), (1, 0), "1\n2"))
    #expect(desk.text == "A1\n2B\nC\nD\nE\n")
  }

  /// What the person changed besides is found by comparing the texts.
  @Test func aLineThatFollowsAnOfferedEditStaysALineInAWholeText() {
    var desk = Desk("tea\nham\nend\n", gate: .plain)
    desk.remote(12, "salt\n")
    let edit = desk.offer()
    #expect(edit != nil)
    desk.remote(4, "eggs\n")
    desk.change(.fullText(Array("milk\nend\nsalt\n".utf8)))
    #expect(desk.text == "eggs\nmilk\nend\nsalt\n" && desk.client == "milk\nend\nsalt\n")
  }

  // MARK: - At random

  private struct Scene {
    var random: SeededGenerator

    mutating func word() -> String {
      let letters: ClosedRange<UInt8> = Bool.random(using: &random) ? 0x61...0x7A : 0x61...0x63
      return String((0..<8).map { _ in Character(UnicodeScalar(UInt8.random(in: letters, using: &random))) })
    }

    mutating func replacement(in lines: [String]) -> (range: Range<Int>, new: [String]) {
      let start = Int.random(in: 0..<lines.count, using: &random)
      let range = start..<Int.random(in: start + 1...lines.count, using: &random)
      var new = Array(lines[range])
      switch Int.random(in: 0..<3, using: &random) {
      case 0: new.sort()
      case 1: new = (0..<Int.random(in: 1...4, using: &random)).map { _ in word() }
      default: for index in new.indices where Bool.random(using: &random) { new[index] = word() }
      }
      return (range, new)
    }
  }

  private static func text(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }

  /// The change that replaces lines; `isCut` leaves out what their first and last line keep, if line ends remain.
  private func change(_ lines: [String], _ range: Range<Int>, to new: [String], isCut: Bool) -> ContentChange {
    let whole = replace((range.lowerBound, 0), (range.upperBound, 0), Self.text(new))
    guard isCut, range.count > 1, new.count > 1, let old = lines[range].last, let last = new.last else { return whole }
    let prefix = zip(lines[range.lowerBound], new[0]).prefix { $0 == $1 }.count
    let suffix = zip(old.reversed(), last.reversed()).prefix { $0 == $1 }.count
    let text = new.joined(separator: "\n").dropFirst(prefix).dropLast(suffix)
    return replace((range.lowerBound, prefix), (range.upperBound - 1, old.count - suffix), String(text))
  }

  private func lines(seed: UInt64, isCut: Bool) -> (merged: [String], wanted: [String], isSame: Bool) {
    var scene = Scene(random: SeededGenerator(seed: seed))
    let old = (0..<Int.random(in: 1...6, using: &scene.random)).map { _ in scene.word() }
    var desk = Desk(Self.text(old))
    // The others write line by line.
    var theirs = old
    var wanted: [String] = []
    for _ in 0..<Int.random(in: 1...3, using: &scene.random) {
      let (word, place) = (scene.word(), Int.random(in: 0...theirs.count, using: &scene.random))
      theirs.insert(word, at: place)
      wanted.append(word)
      desk.remote(9 * place, word + "\n")
      if Bool.random(using: &scene.random) { _ = desk.buffer.pendingEdit(source: desk.document) }
    }
    let (range, new) = scene.replacement(in: old)
    desk.change(change(old, range, to: new, isCut: isCut))
    wanted += old[..<range.lowerBound] + new + old[range.upperBound...]
    let merged = desk.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    // The editor then receives what it lacks.
    let isSame =
      desk.buffer.clientToDocument.applied(
        to: Array(Self.text(Array(old[..<range.lowerBound] + new + old[range.upperBound...])).utf8))
      == desk.document.bytes
    return (merged, wanted, isSame)
  }

  @Test(arguments: UInt64(0)..<300, [false, true]) func noTwoLinesBecomeOne(seed: UInt64, isCut: Bool) {
    let (merged, wanted, isSame) = lines(seed: seed, isCut: isCut)
    #expect(merged.sorted() == wanted.sorted(), "seed \(seed)")
    #expect(isSame, "seed \(seed)")
  }

  @Test(arguments: UInt64(0)..<300, [false, true]) func undoBringsBackTheLines(seed: UInt64, isCut: Bool) throws {
    var scene = Scene(random: SeededGenerator(seed: seed))
    let old = (0..<Int.random(in: 1...6, using: &scene.random)).map { _ in scene.word() }
    let document = Document(textEncoding: .utf8)
    let content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: content, start: 0, delete: 0, value: Self.text(old))
    document.commitWith(message: nil)
    var desk = Desk(Self.text(old))
    let (range, new) = scene.replacement(in: old)
    for splice in desk.change(change(old, range, to: new, isCut: isCut)) {
      try document.spliceText(
        obj: content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
    document.commitWith(message: nil)
    #expect(try document.text(obj: content) == desk.text)
    guard desk.text != Self.text(old) else { return }
    _ = try document.revert(Array(document.heads()))
    #expect(try document.text(obj: content) == Self.text(old), "seed \(seed)")
  }
}
