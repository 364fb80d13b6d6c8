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

  @Test func wordsThatBothSidesReplacedStayInLinesOfTheirOwn() {
    #expect(
      merged("keep\neat at ten\nend\n", "keep\neat at six\nend\n", "keep\neat at two\nend\n")
        == "keep\neat at six\neat at two\nend\n")
  }
}
