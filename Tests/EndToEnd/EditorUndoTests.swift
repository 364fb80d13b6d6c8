import Foundation
import NotesHarness
import TestSupport
import Testing

/// Undo in real editors: one's own words, whatever others typed since.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorUndoTests {
  @Test func undoInVimTakesBackOnlyOnesOwnWords() throws { try undoOwnWords(VimUnderTest.self, EmacsUnderTest.self) }
  @Test func undoInEmacsTakesBackOnlyOnesOwnWords() throws { try undoOwnWords(EmacsUnderTest.self, VimUnderTest.self) }

  private func undoOwnWords<First: EditorUnderTest, Second: EditorUnderTest>(
    _ first: First.Type, _ second: Second.Type
  ) throws {
    let ana = try First(user: NotesUser("Ana"), seed: 21, maximumDelay: .zero)
    let ben = try Second(user: NotesUser("Ben"), seed: 22, maximumDelay: .zero)
    func waitForBoth(_ what: String, _ condition: (String) -> Bool) throws {
      try ana.session.wait(for: what) {
        guard let one = try ana.state(), let two = try ben.state() else { return false }
        return one.isSynced && two.isSynced && one.text == two.text && condition(one.text)
      }
    }
    let id = try ana.createAndShare("Draft", with: ben)
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("first line")
    try ana.session.terminal.press("Enter")
    // An editor that is slow says all that was typed at once, and that is one thing to undo.
    try waitForBoth("the first line") { $0.contains("first line\n") }
    try ana.session.terminal.type("from Ana")
    try ana.endTyping()
    try waitForBoth("Ana's lines") { $0.contains("first line\nfrom Ana") }
    try ben.beginTypingAtEnd()
    try ben.session.terminal.type(" and Ben")
    try ben.endTyping()
    try waitForBoth("both") { $0.contains("from Ana") && $0.contains("and Ben") }

    try ana.undo()
    try waitForBoth("Ana's first line and Ben's words") {
      $0.contains("first line") && !$0.contains("Ana") && $0.contains("and Ben")
    }
    try ana.undo()
    try waitForBoth("Ben's words alone") { !$0.contains("first") && $0.contains("and Ben") }
    // There is nothing more, and the note itself is not undone.
    try ana.undo()
    try ana.waitForScreen("Nothing of yours to undo")
    try ana.redo()
    try ana.redo()
    try waitForBoth("all of it again") { $0.contains("first line\nfrom Ana") && $0.contains("and Ben") }
    try ben.undo()
    try waitForBoth("Ana's words alone") { $0.contains("first line\nfrom Ana") && !$0.contains("Ben") }

    let text = try #require(try ana.state()).text
    for editor in [ana, ben] as [any EditorUnderTest] {
      try editor.quit()
      try editor.session.waitForEnd()
      #expect(try editor.session.user.storedText(of: id) == text)
      #expect(try editor.session.audits().flatMap(\.complaints) == [])
    }
  }
}
