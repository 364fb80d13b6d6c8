import Foundation
import NotesHarness
import TestSupport
import Testing

/// The tutorial in real editors: a robot types, and continues when the person has done what it asks for.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct TutorialTests {}

extension TutorialTests {
  @Test func theTutorialGoesOnInVim() throws { try learn(VimUnderTest.self) }
  @Test func theTutorialGoesOnInEmacs() throws { try learn(EmacsUnderTest.self) }

  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func theTutorialGoesOnInNeovim() throws { try learn(NeovimUnderTest.self) }

  private func learn<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let ana = try Editor(user: NotesUser("Ana"), seed: 14, maximumDelay: .zero)
    let terminal = ana.session.terminal
    let isEmacs = Editor.kind == EmacsUnderTest.kind
    func go(behind words: String) throws {
      if isEmacs {
        try terminal.press("M-<", "C-s")
        try terminal.type(words)
        try terminal.press("Enter")
      } else {
        try terminal.press("Escape")
        try terminal.type("gg/" + words)
        try terminal.press("Enter")
      }
    }
    try ana.give(vim: "NotesTutorial", emacs: "(notes-tutorial)")
    // Its caret, with its name.
    try ana.waitForScreen("Robin")
    // The person need not wait until the robot is done.
    try ana.waitForText("My name:\n")
    let id = try ana.waitUntilAttached()
    try go(behind: "My name:")
    if !isEmacs { try terminal.type("A") }
    try terminal.type(" Ana")
    try ana.endTyping()
    try ana.waitForText("Good. We both typed")
    #expect(try ana.state()?.text.contains("My name: Ana\n") ?? false)
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try ana.session.user.storedText(of: id).contains("My name: Ana\n"))
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
  }
}
