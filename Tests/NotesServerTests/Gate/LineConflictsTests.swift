import TestSupport
import Testing

@testable import NotesServer

/// A file and a document were changed at the same words: when a merge by words serves, and when both lines must stay.
struct LineConflictsTests {
  private func merged(_ base: String, _ ours: String, _ theirs: String) -> String {
    let (base, ours, theirs) = (Array(base.utf8), Array(ours.utf8), Array(theirs.utf8))
    let merge = FileMerge(
      base: base, way: TextDiff.delta(from: base, to: ours, placement: .beforeDeleted), document: ours, file: theirs)
    var text = ours
    for splice in merge.splices {
      text.replaceSubrange(splice.utf8Offset..<splice.utf8Offset + splice.deleteUTF8, with: splice.insert)
    }
    return String(decoding: text, as: UTF8.self)
  }

  @Test func aWordThatOneSideOnlyRemovedGivesWayToTheOthers() {
    let (base, theirs) = ("keep\nmeet Bob at ten\nend\n", "keep\nmeet Bob at two\nend\n")
    #expect(merged(base, "keep\nmeet Bob at \nend\n", theirs) == "keep\nmeet Bob at two\nend\n")
    // A tab that is left in its place is no word.
    #expect(merged(base, "keep\nmeet Bob at\t\nend\n", theirs) == "keep\nmeet Bob at\ttwo\nend\n")
  }

  @Test(arguments: UInt64(0)..<100) func replacementsAreTheDeltaThatTheyWereMadeOf(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func text() -> [UInt8] {
      (0..<Int.random(in: 0...30, using: &random)).map { _ in [0x61, 0x62, 0x0A][Int.random(in: 0..<3, using: &random)]
      }
    }
    let (old, new) = (text(), text())
    let delta = TextDelta(TextDiff.delta(from: old, to: new).splices, in: old)
    #expect(delta.applied(to: old) == new && delta.inverted.applied(to: new) == old, "seed \(seed)")
  }

  @Test func whetherBothVersionsOfALineAreKeptIsKnown() async {
    func areBoth(_ old: String, _ note: String, _ file: String) async -> Bool {
      let changes = LineChanges(old: Array(old.utf8), note: Array(note.utf8), file: Array(file.utf8))
      return await changes.areBoth(in: Array(merged(old, note, file).utf8))
    }
    #expect(await areBoth("keep\neat at ten\nend\n", "keep\neat at six\nend\n", "keep\neat at two\nend\n"))
    #expect(await areBoth("milk\ntea\n", "milk\ngreen\n", "milk\nblack\n"))
    for (old, note, file, why) in [
      ("eat\n", "eat\nmine\n", "eat\ntheirs\n", "two new lines"),
      ("a\nline 3 eggs\nb\n", "a\nb\n", "a\nline 9 eggs\nb\n", "one side deleted it"),
      ("meet Bob at ten\n", "meet Bob at six\n", "meet Ben at ten\n", "one line has both changes"),
      ("tea\n", "green\n", "green\n", "the same"),
    ] { #expect(await !areBoth(old, note, file), "\(why)") }
  }

  @Test func wordsThatBothSidesReplacedStayInLinesOfTheirOwn() {
    #expect(
      merged("keep\neat at ten\nend\n", "keep\neat at six\nend\n", "keep\neat at two\nend\n")
        == "keep\neat at six\neat at two\nend\n")
  }
}
