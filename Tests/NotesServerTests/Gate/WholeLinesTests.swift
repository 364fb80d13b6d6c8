import Automerge
import TestSupport
import Testing

@testable import NotesServer

/// A text in which lines were replaced, deleted and added while its service was away, and the document in which others wrote lines
/// meanwhile: each line stays one.
@Suite struct WholeLinesTests {
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
    for splice in TextDiff.delta(from: Self.bytes(old), to: Self.bytes(ours), placement: .withinLines).splices {
      try document.spliceText(
        obj: content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
    try document.merge(other: others)
    let merged = try document.text(obj: content).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(merged.map(String.init).sorted() == scene.words.sorted(), "seed \(seed)")
  }
}
