import Automerge
import Foundation
import TestSupport
import Testing

@testable import NotesServer

/// An editor replaced, deleted and added lines while its service was away, and other people wrote lines in the document
/// meanwhile: each line stays whole.
struct WholeLinesTests {
  private struct Scene {
    var random: SeededGenerator
    var words: Set<String> = []

    mutating func word() -> String {
      let word = String((0..<8).map { _ in Character(UnicodeScalar(UInt8.random(in: 0x61...0x7A, using: &random))) })
      words.insert(word)
      return word
    }

    /// The same lines, after some were deleted and some written.
    mutating func changed(_ lines: [String], deletes: Bool) -> [String] {
      var lines = lines
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        if deletes, !lines.isEmpty, Bool.random(using: &random) {
          words.remove(lines.remove(at: Int.random(in: 0..<lines.count, using: &random)))
        } else {
          lines.insert(word(), at: Int.random(in: 0...lines.count, using: &random))
        }
      }
      return lines
    }
  }

  private static func bytes(_ lines: [String]) -> [UInt8] { Array(lines.map { $0 + "\n" }.joined().utf8) }

  @Test(arguments: UInt64(0)..<300) func noTwoLinesBecomeOne(seed: UInt64) throws {
    var scene = Scene(random: SeededGenerator(seed: seed))
    let old = (0..<Int.random(in: 1...6, using: &scene.random)).map { _ in scene.word() }
    let document = Document()
    let content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: content, utf8Offset: 0, deleteUTF8: 0, insert: Self.bytes(old))
    let others = document.fork()
    // The others write line by line.
    var theirs = old
    for _ in 0..<Int.random(in: 1...3, using: &scene.random) {
      let place = Int.random(in: 0...theirs.count, using: &scene.random)
      theirs.insert(scene.word(), at: place)
      try others.spliceText(
        obj: content, utf8Offset: 9 * place, deleteUTF8: 0, insert: Self.bytes([theirs[place]]))
    }
    let ours = scene.changed(old, deletes: true)
    for splice in TextDiff.delta(from: Self.bytes(old), to: Self.bytes(ours)).splices {
      try document.spliceText(
        obj: content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
    try document.merge(other: others)
    let merged = try document.text(obj: content).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(merged.map(String.init).sorted() == scene.words.sorted(), "seed \(seed)")
  }

  /// An editor deleted and wrote lines while its service was away, and so did another person, who did not know of that.
  @Test(arguments: UInt64(0)..<300) func noLineIsTornByAnotherPersonWhoDeletesLinesMeanwhile(seed: UInt64) throws {
    var scene = Scene(random: SeededGenerator(seed: seed))
    let old = (0..<Int.random(in: 1...6, using: &scene.random)).map { _ in scene.word() }
    let document = Document()
    let content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: content, utf8Offset: 0, deleteUTF8: 0, insert: Self.bytes(old))
    let others = document.fork()
    var theirs = old
    for _ in 0..<Int.random(in: 1...3, using: &scene.random) {
      let place = Int.random(in: 0...theirs.count, using: &scene.random)
      if place < theirs.count, Bool.random(using: &scene.random) {
        scene.words.remove(theirs.remove(at: place))
        try others.spliceText(obj: content, utf8Offset: 9 * place, deleteUTF8: 9, insert: [])
      } else {
        theirs.insert(scene.word(), at: place)
        try others.spliceText(
          obj: content, utf8Offset: 9 * place, deleteUTF8: 0, insert: Self.bytes([theirs[place]]))
      }
    }
    let ours = scene.changed(old, deletes: true)
    for splice in TextDiff.delta(from: Self.bytes(old), to: Self.bytes(ours)).splices {
      try document.spliceText(
        obj: content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
    try document.merge(other: others)
    let merged = try document.text(obj: content).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(merged.map(String.init).sorted() == scene.words.sorted(), "seed \(seed)")
  }

  /// Letters that an old line and a new one happen to share do not stay in place: another person's line would end up between them.
  @Test(arguments: [UInt8(1), 3]) func aLineWrittenAboveAReplacedOneDoesNotTearTheNewOne(theirs: UInt8) throws {
    let document = Document()
    document.actor = try #require(ActorId(data: Data([2])))
    let content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    let old = Array("keep\nuydebaab\nend\n".utf8)
    try document.spliceText(obj: content, utf8Offset: 0, deleteUTF8: 0, insert: old)
    let others = document.fork()
    others.actor = try #require(ActorId(data: Data([theirs])))
    try others.spliceText(obj: content, utf8Offset: 5, deleteUTF8: 0, insert: Array("theirs\n".utf8))
    let new = Array("keep\nfirst\nnbluydzn\nend\n".utf8)
    for splice in TextDiff.delta(from: old, to: new).splices {
      try document.spliceText(
        obj: content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
    try document.merge(other: others)
    #expect(try document.text(obj: content) == "keep\ntheirs\nfirst\nnbluydzn\nend\n")
  }

  /// An editor had typed a line between two others. Meanwhile the first of these was deleted, and the second replaced by one with
  /// the same last letter.
  @Test func aLineBetweenADeletedOneAndAReplacedOneStaysALine() throws {
    let document = Document()
    let content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    let old = Array("keep\nfirst\nsecondv\nend\n".utf8)
    try document.spliceText(obj: content, utf8Offset: 0, deleteUTF8: 0, insert: old)
    let heads = document.heads()
    for splice in TextDiff.delta(from: old, to: Array("keep\nanotherv\nend\n".utf8)).splices {
      try document.spliceText(
        obj: content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
    let source = PlainText(Array(try document.text(obj: content).utf8))
    let (_, splices) = OpenBuffer.open(
      version: 1, encoding: .utf8, text: Array("keep\nfirst\nbetween\nsecondv\nend\n".utf8),
      exactly: TextDelta(try document.textEdits(obj: content, since: heads)), source: source)
    for splice in splices {
      try document.spliceText(
        obj: content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
    #expect(try document.text(obj: content) == "keep\nbetween\nanotherv\nend\n")
  }

  /// The editor still shows the old lines, with some more that its service has not received, and perhaps without
  /// others.
  @Test(arguments: UInt64(0)..<300, [false, true]) func linesOfAnEditorThatComesBackStayLines(
    seed: UInt64, deletes: Bool
  ) throws {
    var scene = Scene(random: SeededGenerator(seed: seed))
    let old = (0..<Int.random(in: 1...6, using: &scene.random)).map { _ in scene.word() }
    let document = Document()
    let content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    func make(_ splices: [TextSplice]) throws {
      for splice in splices {
        try document.spliceText(
          obj: content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
      }
    }
    try document.spliceText(obj: content, utf8Offset: 0, deleteUTF8: 0, insert: Self.bytes(old))
    let heads = document.heads()
    // Another program writes the text, then again: it deletes some lines and adds others.
    var now = old
    for _ in 0..<2 {
      let next = scene.changed(now, deletes: true)
      try make(TextDiff.delta(from: Self.bytes(now), to: Self.bytes(next)).splices)
      now = next
    }
    let source = PlainText(Array(try document.text(obj: content).utf8))
    let shown = scene.changed(old, deletes: deletes)
    let (_, splices) = OpenBuffer.open(
      version: 1, encoding: .utf8, text: Self.bytes(shown),
      exactly: TextDelta(try document.textEdits(obj: content, since: heads)), source: source)
    try make(splices)
    let merged = try document.text(obj: content).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(
      merged.map(String.init).sorted() == scene.words.sorted(),
      "seed \(seed): \(old) became \(now) and \(shown), merged \(merged)")
  }
}

/// Each line of the editor's stays separate although the document replaced the line before the editor did.
struct LineMergeTests {
  private func merged(_ base: String, _ ours: String, _ theirs: String) -> String {
    let merge = FileMerge(
      base: Array(base.utf8),
      way: TextDiff.delta(from: Array(base.utf8), to: Array(ours.utf8), placement: .beforeDeleted),
      document: Array(ours.utf8), file: Array(theirs.utf8))
    var text = Array(ours.utf8)
    for splice in merge.splices {
      text.replaceSubrange(splice.utf8Offset..<splice.utf8Offset + splice.deleteUTF8, with: splice.insert)
    }
    #expect(merge.lacking.applied(to: Array(theirs.utf8)) == text, "what the file lacks leads to the same text")
    return String(decoding: text, as: UTF8.self)
  }

  @Test func linesThatReplaceTheSameLineBothStay() {
    #expect(
      merged("keep\nold\nend\n", "keep\ntea\nmilk\nend\n", "keep\nbread\nend\n") == "keep\nbread\ntea\nmilk\nend\n")
    #expect(merged("old\n", "tea\n", "") == "tea\n")
    #expect(merged("old", "tea", "bread") == "tea\nbread")
  }

  @Test func whereLinesStayOnesChangesOfDifferentWordsInALineAreBothMade() {
    #expect(
      merged(
        "buy milk today\nkeep\nold\nend\n", "buy milk and eggs today\nkeep\nvw\nxo\nend\n",
        "buy oat milk today\nkeep\nend\n")
        == "buy oat milk and eggs today\nkeep\nvw\nxo\nend\n")
  }

  @Test func aLineThatOneSideDeletedAndTheOtherKeptIsGone() {
    #expect(merged("a\nb\nc\n", "x\nb\n", "a\nc\ny\n") == "x\ny\n")
  }
}
