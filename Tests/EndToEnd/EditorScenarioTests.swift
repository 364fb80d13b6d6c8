import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// What people do, in real editors on real terminals.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorScenarioTests {}

extension EditorScenarioTests {
  @Test func sharedFromVimJoinedInEmacs() throws {
    try typeToEachOther(VimUnderTest.self, EmacsUnderTest.self)
  }

  @Test func sharedFromEmacsJoinedInVim() throws {
    try typeToEachOther(EmacsUnderTest.self, VimUnderTest.self)
  }

  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func sharedFromNeovimJoinedInEmacs() throws {
    try typeToEachOther(NeovimUnderTest.self, EmacsUnderTest.self)
  }

  private func typeToEachOther<First: EditorUnderTest, Second: EditorUnderTest>(
    _ first: First.Type, _ second: Second.Type
  ) throws {
    let ana = try First(user: NotesUser("Ana"), seed: 1, maximumDelay: .zero)
    let ben = try Second(user: NotesUser("Ben"), seed: 2, maximumDelay: .zero)
    let id = try ana.createAndShare("Picnic", with: ben)

    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("bread from Ana 🥖")
    try ben.waitForText("bread from Ana 🥖")
    try ben.waitForScreen("bread from Ana")
    try ben.waitForScreen("Ana")
    try ana.endTyping()

    try ben.beginTypingAtEnd()
    try ben.session.terminal.type(" cheese from Ben")
    try ana.waitForText("cheese from Ben")
    try ana.waitForScreen("cheese from Ben")
    // The other person's name is also outside of the text.
    try ana.session.wait(for: "Ben's name at his caret or in the status line") {
      try ana.session.terminal.screen().components(separatedBy: "Ben").count > 2
    }
    try ben.endTyping()
    let text = try waitForEqualTexts(ana, ben)
    for editor in [ana, ben] as [any EditorUnderTest] {
      try editor.quit()
      try editor.session.waitForEnd()
      #expect(try editor.session.user.storedText(of: id) == text)
      #expect(try editor.session.audits().flatMap(\.complaints) == [])
    }
  }

  @Test func vimGoesOnWhenItsServiceIsKilled() throws { try goOnAfterDeath(VimUnderTest.self) }
  @Test func emacsGoesOnWhenItsServiceIsKilled() throws { try goOnAfterDeath(EmacsUnderTest.self) }

  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func neovimGoesOnWhenItsServiceIsKilled() throws { try goOnAfterDeath(NeovimUnderTest.self) }

  private func goOnAfterDeath<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let ana = try Editor(user: NotesUser("Ana"), seed: 3, maximumDelay: .zero)
    let ben = try VimUnderTest(user: NotesUser("Ben"), seed: 4, maximumDelay: .zero)
    _ = try ana.createAndShare("Storm", with: ben)
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("before the storm ")
    try ben.waitForText("before the storm")

    ana.session.killService()
    try ana.session.terminal.type("during the storm ")
    try ana.session.wait(for: "a new service") { ana.session.records.count == 2 }
    try ana.session.terminal.type("after the storm")
    try ben.waitForText("before the storm during the storm after the storm")
    try ana.endTyping()
    let text = try waitForEqualTexts(ana, ben)
    #expect(text.components(separatedBy: "storm").count == 4, "nothing is doubled: \(text)")
  }

  @Test func aKilledVimLosesNothing() throws { try loseNothingWhenKilled(VimUnderTest.self) }
  @Test func aKilledEmacsLosesNothing() throws { try loseNothingWhenKilled(EmacsUnderTest.self) }

  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func aKilledNeovimLosesNothing() throws { try loseNothingWhenKilled(NeovimUnderTest.self) }

  private func loseNothingWhenKilled<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let user = try NotesUser("Ana")
    var ana: Editor? = try Editor(user: user, seed: 5, maximumDelay: .zero)
    let session = try #require(ana?.session)
    try ana?.createNote("Diary")
    let id = try #require(try ana?.waitUntilAttached())
    try ana?.beginTypingAtEnd()
    try session.terminal.type("never saved")
    try ana?.waitForText("never saved")
    try session.wait(for: "the words to arrive") {
      guard let state = try ana?.state(), state.isSynced else { return false }
      return try session.audits().contains { $0.buffers.values.contains { $0.text.string.contains("never saved") } }
    }
    kill(session.terminal.programProcessId, SIGKILL)
    try session.waitForEnd()
    #expect(try user.storedText(of: id).contains("never saved"))
    session.terminal.killServer()
    ana = nil

    let again = try Editor(user: user, seed: 6, maximumDelay: .zero)
    try again.openNote("Diary")
    #expect(try again.waitUntilAttached() == id)
    try again.waitForText("never saved")
  }

  @Test func notesAreListedAndOpenedInVim() throws { try listAndOpen(VimUnderTest.self) }
  @Test func notesAreListedAndOpenedInEmacs() throws { try listAndOpen(EmacsUnderTest.self) }

  private func listAndOpen<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let ana = try Editor(user: NotesUser("Ana"), seed: 7, maximumDelay: .zero)
    try ana.createNote("Groceries")
    let first = try ana.waitUntilAttached()
    try ana.createNote("Letters")
    try ana.session.wait(for: "the second note") {
      try ana.documentId().map { $0 != first } ?? false
    }
    try ana.showNotes()
    try ana.waitForScreen("Groceries")
    try ana.waitForScreen("Letters")
    try ana.openNote("Groceries")
    try ana.session.wait(for: "the first note") { try ana.documentId() == first }
    try ana.quit()
    try ana.session.waitForEnd()
    let listed = try ana.session.user.run(["list"])
    #expect(listed.exit == .code(0))
    #expect(listed.output.contains("Groceries") && listed.output.contains("Letters"), "\(listed.output)")
  }

  @Test func aNoteIsRenamedDeletedAndHadBackInVim() throws { try renameDeleteAndRestore(VimUnderTest.self) }
  @Test func aNoteIsRenamedDeletedAndHadBackInEmacs() throws { try renameDeleteAndRestore(EmacsUnderTest.self) }

  private func renameDeleteAndRestore<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let ana = try Editor(user: NotesUser("Ana"), seed: 8, maximumDelay: .zero)
    func listed() throws -> String { try ana.session.user.run(["list"]).output }
    try ana.createNote("Plan")
    let id = try ana.waitUntilAttached()
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("not to be lost")
    try ana.waitForText("not to be lost")
    try ana.endTyping()
    _ = try ana.waitUntilAttached()
    try ana.renameNote("Scheme")
    try ana.session.wait(for: "the new title") { try listed().contains("Scheme") }
    try ana.deleteNote()
    try ana.session.wait(for: "an empty list") { try listed().isEmpty }
    try ana.session.wait(for: "a buffer that is no note") { try ana.documentId() == nil }
    try ana.undeleteNote("Scheme")
    #expect(try ana.waitUntilAttached() == id)
    try ana.waitForText("not to be lost")
    // The file follows when it is closed, as after any renaming.
    #expect(try listed().contains("Scheme") && listed().contains("/Plan.md"))
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(
      try ana.session.user.storedText(of: id) == "not to be lost\n"
        || ana.session.user.storedText(of: id) == "not to be lost")
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
  }

  private func waitForEqualTexts(_ first: any EditorUnderTest, _ second: any EditorUnderTest) throws -> String {
    var text = ""
    try first.session.wait(for: "equal buffers") {
      guard let one = try first.state(), let two = try second.state() else { return false }
      text = one.text
      return one.isSynced && two.isSynced && one.text == two.text
    }
    return text
  }
}
