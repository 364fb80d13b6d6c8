import Foundation
import NotesHarness
import TestSupport
import Testing

/// How an editor ends when its terminal is closed.
@Suite(.ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorEndTests {}

extension EditorEndTests {
  /// The hang-up reaches both processes, or the machine shuts down: the service may end before the editor has sent its
  /// last request. Emacs used to wait for the answer forever, with a whole core and ever more memory.
  @Test(arguments: ["vim", "emacs"]) func anEditorEndsWithItsTerminalThoughItsServiceEndsBesideIt(kind: String) throws {
    var random = SeededGenerator(seed: 91)
    for round in 0..<8 {
      let user = try NotesUser("Ana")
      let editor: any EditorUnderTest =
        kind == "vim"
        ? try VimUnderTest(user: user, seed: UInt64(round), maximumDelay: .zero)
        : try EmacsUnderTest(user: user, seed: UInt64(round), maximumDelay: .zero)
      try editor.createNote("Tea")
      _ = try editor.waitUntilAttached()
      let (program, session) = (KnownProcess(editor.session.terminal.programProcessId), editor.session)
      defer { program.send(SIGKILL) }
      // Stopped, the service cannot answer, so it dies while the editor waits.
      let service = try #require(session.records.last?.processId)
      kill(service, SIGSTOP)
      program.send(SIGHUP)
      Polling.randomRest(milliseconds: Int.random(in: 20...300, using: &random))
      session.killService()
      session.terminal.killServer()
      try session.wait(for: "the end of the editor, round \(round)") { !EditorSession.isRunning(program.id) }
    }
  }

  @Test func whatAServiceHasNotReadWhenVimEndsIsStoredOnceItGoesOn() throws { try endUnread(VimUnderTest.self) }
  @Test func whatAServiceHasNotReadWhenEmacsEndsIsStoredOnceItGoesOn() throws { try endUnread(EmacsUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func whatAServiceHasNotReadWhenNeovimEndsIsStoredOnceItGoesOn() throws { try endUnread(NeovimUnderTest.self) }

  /// The service hangs when the person types, and until after the editor has ended: the words are in its pipe.
  private func endUnread<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let editor = try Editor(user: NotesUser("Ana"), seed: 93, maximumDelay: .zero)
    try editor.createNote("Tea")
    let id = try editor.waitUntilAttached()
    let session = editor.session
    let service = KnownProcess(try #require(session.records.last?.processId))
    defer { service.send(SIGKILL) }
    service.send(SIGSTOP)
    try editor.beginTypingAtEnd()
    try session.terminal.type("precious words")
    try editor.waitForText("precious words")
    try editor.endTyping()
    let program = session.terminal.programProcessId
    try editor.quit()
    try session.wait(for: "the end of the editor") { !EditorSession.isRunning(program) }
    service.send(SIGCONT)
    try session.waitForEnd()
    #expect(try session.user.storedText(of: id).contains("precious words"))
  }

  @Test func theFileHasWhatAPersonTypedWhoLeavesVimWithoutSaving() throws { try leaveUnsaved(VimUnderTest.self) }
  @Test func theFileHasWhatAPersonTypedWhoLeavesEmacsWithoutSaving() throws { try leaveUnsaved(EmacsUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func theFileHasWhatAPersonTypedWhoLeavesNeovimWithoutSaving() throws { try leaveUnsaved(NeovimUnderTest.self) }

  private func leaveUnsaved<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let editor = try Editor(user: NotesUser("Ana"), seed: 90, maximumDelay: .zero)
    try editor.createNote("Tea")
    _ = try editor.waitUntilAttached()
    try editor.beginTypingAtEnd()
    try editor.session.terminal.type("precious words")
    try editor.waitForText("precious words")
    try editor.endTyping()
    let program = editor.session.terminal.programProcessId
    try editor.quit()
    try editor.session.wait(for: "the end of the editor") { !EditorSession.isRunning(program) }
    try editor.session.waitForEnd()
    let user = editor.session.user
    #expect(try user.run(["find", "precious"]).output.contains("precious words"))
    // On a busy machine the second that the service takes for files at its end may pass first; then the next one writes it.
    let next = try user.startInitialized()
    try editor.session.wait(for: "the words in the file") {
      try String(contentsOfFile: user.notes + "/Tea.md", encoding: .utf8).contains("precious words")
    }
    try next.shutdown()
  }

  @Test func emacsOffersToSaveWhatAServiceThatHangsHasNotRead() throws {
    let ana = try EmacsUnderTest(user: NotesUser("Ana"), seed: 94, maximumDelay: .zero)
    try ana.createNote("Tea")
    let id = try ana.waitUntilAttached()
    let service = KnownProcess(try #require(ana.session.records.last?.processId))
    defer { service.send(SIGKILL) }
    service.send(SIGSTOP)
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("precious words")
    try ana.waitForText("precious words")
    let program = ana.session.terminal.programProcessId
    try ana.session.terminal.press("C-x", "C-c")
    try ana.waitForScreen("Save file")
    try ana.session.terminal.type("n")
    try ana.waitForScreen("exit anyway?")
    try ana.session.terminal.type("yes")
    try ana.session.terminal.press("Enter")
    try ana.waitForScreen("The service has not read the last words.  Save Tea.md? (y or n)")
    try ana.session.terminal.type("y")
    try ana.session.wait(for: "the end of Emacs") { !EditorSession.isRunning(program) }
    // The service never goes on; the next one reads the file.
    service.send(SIGKILL)
    let next = try ana.session.user.startInitialized()
    _ = try next.request("notes/open", ["id": .string(id)])
    try ana.session.wait(for: "the words in the note") {
      try ana.session.user.storedText(of: id).contains("precious words")
    }
    try next.shutdown()
  }

  @Test func emacsEndsWhenItsPersonSavesANoteWhoseServiceHangs() throws {
    let ana = try EmacsUnderTest(user: NotesUser("Ana"), seed: 89, maximumDelay: .zero)
    try ana.createNote("Tea")
    _ = try ana.waitUntilAttached()
    let path = ana.session.user.notes + "/Tea.md"
    let service = KnownProcess(try #require(ana.session.records.last?.processId))
    // The proxy between the two takes what the service does not read, so it is what Emacs must see suspended.
    let proxy = KnownProcess(pid_t(try ana.evaluate("(process-id (jsonrpc--process notes-lsp--link))").intValue ?? 0))
    defer { for process in [service, proxy] { process.send(SIGKILL) } }
    for process in [service, proxy] { process.send(SIGSTOP) }
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("precious words")
    try ana.waitForText("precious words")
    try ana.session.terminal.press("M-x")
    try ana.session.terminal.type("notes-status")
    try ana.session.terminal.press("Enter")
    try ana.waitForScreen("Asking the service")
    let program = ana.session.terminal.programProcessId
    try ana.session.terminal.press("C-x", "C-c")
    try ana.waitForScreen("Save file")
    try ana.session.terminal.type("y")
    try ana.session.wait(for: "the end of Emacs") { !EditorSession.isRunning(program) }
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("precious words"))
  }

  /// The service has failed for good, and nothing but the editor has the words.
  @Test func wordsThatOnlyEmacsHasAreInItsAutoSaveFileWhenItsTerminalCloses() throws {
    let ana = try EmacsUnderTest(user: NotesUser("Ana"), seed: 92, maximumDelay: .zero)
    _ = try ana.evaluate("(setq auto-save-default t)")
    try ana.createNote("Tea")
    _ = try ana.waitUntilAttached()
    try ana.setServiceCommand { _ in ["false"] }
    ana.session.killService()
    try ana.waitForScreen("keeps failing")
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("precious")
    try ana.waitForText("precious")
    let program = KnownProcess(ana.session.terminal.programProcessId)
    defer { program.send(SIGKILL) }
    program.send(SIGHUP)
    try ana.session.wait(for: "the end of Emacs") { !EditorSession.isRunning(program.id) }
    let rescued = try String(contentsOfFile: ana.session.user.notes + "/#Tea.md#", encoding: .utf8)
    #expect(rescued.contains("precious"))
  }

  @Test func whatIsTypedInVimWithoutAServiceCanBeRecovered() throws { try typeWithoutService(VimUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func whatIsTypedInNeovimWithoutAServiceCanBeRecovered() throws { try typeWithoutService(NeovimUnderTest.self) }

  /// The service has been given up, and then the terminal is closed.
  private func typeWithoutService<Editor: VimLikeUnderTest>(_ kind: Editor.Type) throws {
    let editor = try Editor(user: NotesUser("Ana"), seed: 92, maximumDelay: .zero)
    try editor.give(vim: "setglobal swapfile directory=.", emacs: "")
    try editor.createNote("Tea")
    _ = try editor.waitUntilAttached()
    let path = try #require(try editor.filePath())
    let (program, session) = (KnownProcess(editor.session.terminal.programProcessId), editor.session)
    defer { program.send(SIGKILL) }
    try editor.setServiceCommand { _ in ["false"] }
    session.killService()
    try editor.waitForScreen("keeps failing")
    try editor.beginTypingAtEnd()
    try session.terminal.type("precious words")
    try editor.waitForText("precious words")
    program.send(SIGHUP)
    try session.wait(for: "the end of the editor") { !EditorSession.isRunning(program.id) }
    let swap = (path as NSString).deletingLastPathComponent + "/.Tea.md.swp"
    let kept = try Data(contentsOf: URL(filePath: swap))
    #expect(kept.range(of: Data("precious words".utf8)) != nil)
  }
}
