import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Notes and their files in real editors: saving, saving that fails, and writing by other programs.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorFileTests {}

extension EditorFileTests {
  /// Also if the person's settings make the editor read changed files again by itself.
  @Test(arguments: [false, true]) func vimMergesWhatAnotherProgramWrites(readsAgain: Bool) throws {
    try mergeOutside(VimUnderTest.self, readsAgain)
  }
  @Test(arguments: [false, true]) func emacsMergesWhatAnotherProgramWrites(readsAgain: Bool) throws {
    try mergeOutside(EmacsUnderTest.self, readsAgain)
  }

  private func mergeOutside<Editor: EditorUnderTest>(_ kind: Editor.Type, _ readsAgain: Bool) throws {
    let ana = try Editor(user: NotesUser("Ana"), seed: 21, maximumDelay: .zero)
    if readsAgain {
      try ana.give(vim: "set autoread", emacs: "(progn (setq auto-revert-interval 0.1) (global-auto-revert-mode 1))")
    }
    try ana.createNote("List")
    let id = try ana.waitUntilAttached()
    let path = ana.session.user.notes + "/List.md"
    try ana.type("first")
    try ana.save()
    try ana.session.wait(for: "the saved file") { read(path)?.contains("first") ?? false }

    // The buffer is unmodified: it shows the new line, and stays unmodified.
    _ = try ChildProcess.run(["sed", "-i", "1i from sed", path])
    try ana.waitForText("from sed\nfirst")
    try ana.waitForScreen("from sed")
    try ana.session.wait(for: "an unmodified buffer") { try !ana.isModified() }

    // The buffer is modified: it shows both, and the file has both after the next save, which asks nothing.
    try ana.type(" typed")
    _ = try ChildProcess.run(["sed", "-i", "1i also from sed", path])
    try ana.waitForText("also from sed\nfrom sed\nfirst typed")
    try ana.save()
    try ana.session.wait(for: "both in the file") { read(path) == "also from sed\nfrom sed\nfirst typed\n" }

    // This is so soon before the save that neither editor nor service has noticed it.
    try ana.type(" again")
    _ = try ChildProcess.run(["sed", "-i", "1i at the last moment", path])
    try ana.save()
    // On a busy machine the service may not answer in the tenth of a second that the plugin waits; then Vim itself asks.
    var isAsked = false
    try ana.session.wait(for: "the line, or a question") {
      if !isAsked, Editor.kind == "Vim", try ana.session.terminal.screen().contains("(y/n)") {
        isAsked = true
        try ana.session.terminal.type("y")
      }
      return try isAsked || ana.state()?.text.contains("at the last moment") == true
    }
    if isAsked { try ana.session.terminal.press("Escape") }
    try ana.waitForText("at the last moment\nalso from sed\nfrom sed\nfirst typed again")
    try ana.session.wait(for: "nothing that is not saved, or another save") {
      if try ana.isModified() { try ana.save() }
      return read(path) == "at the last moment\nalso from sed\nfrom sed\nfirst typed again\n"
    }
    let screen = try ana.session.terminal.screen()
    for question in isAsked ? [] : ["WARNING", "(y/n)", "yes or no", "W11", "W12", "Press ENTER"] {
      #expect(!screen.contains(question), "\(screen)")
    }
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(
      try ana.session.user.storedText(of: id) == "at the last moment\nalso from sed\nfrom sed\nfirst typed again\n")
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
  }

  /// A file that is no text cannot be merged, so each editor asks as it does about any file that another program has written.
  private func saveOverBytes<Editor: EditorUnderTest>(
    _ kind: Editor.Type, seed: UInt64, _ question: String, no: [String]
  ) throws {
    let (ana, id, path) = try savedNote(kind, "List", "first", seed: seed)
    let bytes = Data("caf".utf8) + [0xE9, 0x0A]
    try bytes.write(to: URL(filePath: path))
    try ana.type(" second")
    try ana.save()
    try ana.waitForScreen(question)
    #expect(FileManager.default.contents(atPath: path) == bytes)
    for key in no { try ana.session.terminal.press(key) }
    try ana.session.wait(for: "the end of the question") {
      let screen = try ana.session.terminal.screen()
      // The prompt may begin after the key that is meant for it.
      if screen.contains("Press ENTER") { try ana.session.terminal.press("Enter") }
      return !screen.contains(question)
    }
    #expect(FileManager.default.contents(atPath: path) == bytes)
    try ana.session.wait(for: "the words in the store") { try ana.session.user.storedText(of: id) == "first second\n" }
  }

  @Test func vimAsksBeforeItWritesOverAFileThatIsNoText() throws {
    try saveOverBytes(VimUnderTest.self, seed: 41, "write to it (y/n)", no: ["n", "Escape"])
  }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func neovimAsksBeforeItWritesOverAFileThatIsNoText() throws {
    try saveOverBytes(NeovimUnderTest.self, seed: 42, "write to it (y/n)", no: ["n", "Enter"])
  }
  @Test func emacsAsksBeforeItWritesOverAFileThatIsNoText() throws {
    try saveOverBytes(EmacsUnderTest.self, seed: 43, "Save anyway?", no: ["n", "o", "Enter"])
  }

  @Test func emacsWritesNothingWhileTheServiceIsAwayIfItsPersonSaysNo() throws {
    let (ana, _, path) = try savedNote(EmacsUnderTest.self, "List", "first", seed: 44)
    let gate = try ana.holdNextService()
    ana.session.killService()
    try ana.waitForScreen("restarts; typing is kept")
    try ana.type(" second")
    try "first\nfrom sed\n".write(toFile: path, atomically: true, encoding: .utf8)
    try ana.save()
    try ana.waitForScreen("Save anyway?")
    try ana.session.terminal.press("n", "o", "Enter")
    try ana.waitForScreen("Save not confirmed")
    #expect(read(path) == "first\nfrom sed\n")
    try "".write(toFile: gate, atomically: true, encoding: .utf8)
    try ana.waitForText("first second\nfrom sed")
  }

  @Test func vimAsksNothingAboutTheFileWhileTheServiceRestarts() throws { try writeWhileRestarting(VimUnderTest.self) }
  @Test func emacsAsksNothingAboutTheFileWhileTheServiceRestarts() throws {
    try writeWhileRestarting(EmacsUnderTest.self)
  }

  /// A note of one line, typed and saved in the editor.
  private func savedNote<Editor: EditorUnderTest>(
    _ kind: Editor.Type, _ title: String, _ line: String, seed: UInt64
  ) throws -> (editor: Editor, id: String, path: String) {
    let editor = try Editor(user: NotesUser("Ana"), seed: seed, maximumDelay: .zero)
    try editor.createNote(title)
    let id = try editor.waitUntilAttached()
    let path = editor.session.user.notes + "/\(title).md"
    try editor.type(line)
    try editor.save()
    try editor.session.wait(for: "the saved file") { read(path) == line + "\n" }
    _ = try editor.waitUntilAttached()
    return (editor, id, path)
  }

  @Test(arguments: [false, true]) func whatVimSavesWhileTheServiceIsAwayStandsOnce(isSeen: Bool) throws {
    try saveWhileRestarting(VimUnderTest.self, isSeen)
  }
  @Test(arguments: [false, true]) func whatEmacsSavesWhileTheServiceIsAwayStandsOnce(isSeen: Bool) throws {
    try saveWhileRestarting(EmacsUnderTest.self, isSeen)
  }

  /// The next service finds the same words in the file and in the buffer. The store has none of them, unless another
  /// process of the same person has read the file.
  private func saveWhileRestarting<Editor: EditorUnderTest>(_ kind: Editor.Type, _ isSeen: Bool) throws {
    let (ana, id, path) = try savedNote(kind, "List", "first", seed: 26)
    let other = isSeen ? try ana.session.user.startInitialized() : nil
    let gate = try ana.holdNextService()
    let service = try #require(ana.session.records.last?.processId)
    kill(service, SIGSTOP)
    try ana.type(" unsent")
    try ana.session.wait(for: "what was typed") { try ana.state()?.text.contains("unsent") ?? false }
    ana.session.killService()
    try ana.waitForScreen("restarts; typing is kept")
    try ana.type(" away")
    try ana.session.wait(for: "what was typed") { try ana.state()?.text.contains("away") ?? false }
    try ana.save()
    try ana.session.wait(for: "the saved file") { read(path) == "first unsent away\n" }
    try ana.session.wait(for: "the words in the store") {
      try other == nil || ana.session.user.storedText(of: id) == "first unsent away\n"
    }
    try ana.type(" after")
    try ana.session.wait(for: "what was typed") { try ana.state()?.text.contains("after") ?? false }
    try "".write(toFile: gate, atomically: true, encoding: .utf8)
    try ana.session.wait(for: "the next service") { try ana.state()?.isSynced ?? false }
    try ana.type(" later")
    try ana.waitForText("first unsent away after later")
    try ana.save()
    try ana.session.wait(for: "all in the file") { read(path) == "first unsent away after later\n" }
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try ana.session.user.storedText(of: id) == "first unsent away after later\n")
    try other?.shutdown()
  }

  @Test func whatIsChangedInVimAfterReadingTheFileWhileTheServiceIsAwayStandsOnce() throws {
    try readAgainWhileRestarting(VimUnderTest.self)
  }
  @Test func whatIsChangedInEmacsAfterReadingTheFileWhileTheServiceIsAwayStandsOnce() throws {
    try readAgainWhileRestarting(EmacsUnderTest.self)
  }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func whatIsChangedInNeovimAfterReadingTheFileWhileTheServiceIsAwayStandsOnce() throws {
    try readAgainWhileRestarting(NeovimUnderTest.self)
  }

  /// The next service finds lines in the file that the buffer has at other places.
  private func readAgainWhileRestarting<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (ana, id, path) = try savedNote(kind, "List", "first", seed: 27)
    let gate = try ana.holdNextService()
    ana.session.killService()
    try ana.waitForScreen("restarts; typing is kept")
    try ana.give(
      vim: "call append('$', ['milk', 'oat bread'])",
      emacs: #"(progn (goto-char (point-max)) (insert "milk\noat bread\n"))"#)
    try ana.waitForText("oat bread")
    try ana.save()
    let (saved, moved) = ("first\nmilk\noat bread\n", "oat bread\nfirst\nmilk\n")
    try ana.session.wait(for: "the saved file") { read(path) == saved }
    try ana.give(
      vim: "edit! | $move 0",
      emacs: #"(progn (revert-buffer t t t) (goto-char (point-max)) (insert (delete-and-extract-region 1 12)))"#)
    try ana.session.wait(for: "what was moved") { try ana.state()?.text == moved }
    #expect(read(path) == saved)
    try "".write(toFile: gate, atomically: true, encoding: .utf8)
    try ana.session.wait(for: "what was moved in the store") {
      try ana.session.user.storedText(of: id).hasPrefix("oat bread\n")
    }
    try ana.session.wait(for: "the next service") { try ana.state()?.isSynced ?? false }
    try ana.save()
    try ana.session.wait(for: "all in the file") { read(path) == moved }
    #expect(try ana.state()?.text == moved)
    try ana.quit()
    try ana.session.waitForEnd()
    let stored = try ana.session.user.storedText(of: id)
    #expect(stored == moved)
  }

  private func writeWhileRestarting<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (ana, id, path) = try savedNote(kind, "List", "first", seed: 25)

    let gate = try ana.holdNextService()
    ana.session.killService()
    try ana.waitForScreen("restarts; typing is kept")
    _ = try ChildProcess.run(["sed", "-i", "1i from sed", path])
    try ana.give(vim: "checktime", emacs: "(ignore)")
    try ana.type(" typed")
    try ana.session.wait(for: "what was typed") { try ana.state()?.text.contains("first typed") ?? false }
    let screen = try ana.session.terminal.screen()
    for question in ["WARNING", "(y/n)", "yes or no", "W11", "W12", "Press ENTER", "really edit"] {
      #expect(!screen.contains(question), "\(screen)")
    }

    try "".write(toFile: gate, atomically: true, encoding: .utf8)
    try ana.waitForText("from sed\nfirst typed")
    _ = try ana.waitUntilAttached()
    try ana.save()
    try ana.session.wait(for: "both in the file") { read(path) == "from sed\nfirst typed\n" }
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try ana.session.user.storedText(of: id) == "from sed\nfirst typed\n")
  }

  @Test func aSaveThatFailsInVimLosesNothing() throws { try failToSave(VimUnderTest.self) }
  @Test func aSaveThatFailsInEmacsLosesNothing() throws { try failToSave(EmacsUnderTest.self) }

  private func failToSave<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (ana, id, path) = try savedNote(kind, "Full", "saved", seed: 22)

    // The disk is full, for this file only.
    let aside = ana.session.user.directory.file("aside")
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
    try ana.type(" and not saved")
    try ana.waitForText("saved and not saved")
    _ = try ana.waitUntilAttached()
    try ana.saveInSpite()
    // The title is always on the screen; these words appear only when the save has failed.
    try ana.waitForScreen(Editor.kind == "Vim" ? "Press ENTER" : "No space left")
    if Editor.kind == "Vim" { try ana.session.terminal.press("Enter") }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: aside, toPath: path)
    #expect(read(path) == "saved\n")
    try ana.readFileAgain()
    try ana.waitForText("saved and not saved")
    _ = try ana.waitUntilAttached()
    try ana.quit()
    try ana.session.waitForEnd()
    let stored = try ana.session.user.storedText(of: id)
    #expect(stored == "saved and not saved\n")
  }

  @Test func aBufferThatStayedInVimDeletesNoWordsWhenItsNoteComesBack() throws {
    try undelete(VimUnderTest.self)
  }
  @Test func aBufferThatStayedInEmacsDeletesNoWordsWhenItsNoteComesBack() throws {
    try undelete(EmacsUnderTest.self)
  }

  private func undelete<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let ana = try VimUnderTest(user: NotesUser("Ana"), seed: 23, maximumDelay: .zero)
    let ben = try Editor(user: NotesUser("Ben"), seed: 24, maximumDelay: .zero)
    let id = try ana.createAndShare("Plan", with: ben)
    try ana.type("before")
    try ana.endTyping()
    try ben.waitForText("before")
    _ = try ben.waitUntilAttached()
    try ben.deleteNote()
    try ben.session.wait(for: "a buffer that is no note") { try ben.documentId() == nil }
    try ana.type(" by Ana meanwhile")
    try ana.endTyping()
    _ = try ana.waitUntilAttached()
    try ben.undeleteNote("Plan")
    try ben.waitForText("before by Ana meanwhile")
    _ = try ben.waitUntilAttached()
    try ben.type(" and Ben")
    try ana.waitForText("before by Ana meanwhile and Ben")
    for editor in [ana, ben] as [any EditorUnderTest] {
      try editor.quit()
      try editor.session.waitForEnd()
      #expect(try editor.session.user.storedText(of: id).contains("before by Ana meanwhile and Ben"))
    }
  }

  @Test func vimKnowsAnAdoptedFileAgain() throws { try knowAgain(VimUnderTest.self) }
  @Test func emacsKnowsAnAdoptedFileAgain() throws { try knowAgain(EmacsUnderTest.self) }

  private func knowAgain<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let user = try NotesUser("Ana")
    let path = user.directory.file("a plan.txt")
    try "one\n".write(toFile: path, atomically: true, encoding: .utf8)
    let service = try user.startInitialized()
    let adopted = try service.request(
      "notes/adopt", ["uri": .string("file://" + path.replacingOccurrences(of: " ", with: "%20"))])
    try service.shutdown()
    let ana = try Editor(user: user, seed: 25, maximumDelay: .zero)
    let other = user.directory.file("ordinary.txt")
    try "ordinary\n".write(toFile: other, atomically: true, encoding: .utf8)
    try ana.visit(other)
    try ana.waitForScreen("ordinary")
    #expect(try ana.documentId() == nil)
    #expect(ana.session.records.isEmpty, "an ordinary file starts no service")
    try ana.visit(path)
    #expect(try ana.waitUntilAttached() == adopted["id"]?.stringValue)
    try ana.type(" more")
    _ = try ana.waitUntilAttached()
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try user.storedText(of: adopted["id"]?.stringValue ?? "") == "one more\n")
  }

  @Test func vimKeepsTheLineEndsOfADOSFileWithALoneCarriageReturn() throws { try keepLineEnds(VimUnderTest.self) }
  @Test func emacsKeepsTheLineEndsOfADOSFileWithALoneCarriageReturn() throws { try keepLineEnds(EmacsUnderTest.self) }

  /// Both editors take such a file for one of DOS, and add a carriage return to each line that they write.
  private func keepLineEnds<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let user = try NotesUser("Ana")
    let path = user.directory.file("dos.txt")
    try "one\r\ntwo\rx\r\nthree\r\n".write(toFile: path, atomically: true, encoding: .utf8)
    let service = try user.startInitialized()
    let adopted = try service.request("notes/adopt", ["uri": .string("file://" + path)])
    try service.shutdown()
    let ana = try Editor(user: user, seed: 28, maximumDelay: .zero)
    try ana.visit(path)
    _ = try ana.waitUntilAttached()
    for word in ["four", "five", "six"] {
      try ana.type(" " + word)
      try ana.save()
      try ana.session.wait(for: "the saved file") { read(path)?.contains(word) ?? false }
      // On a busy machine Vim may have to say more than fits in its last line, and wait for a key.
      try ana.settle()
      _ = try ana.waitUntilAttached()
    }
    #expect(read(path) == "one\r\ntwo\rx\r\nthree four five six\r\n")
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try user.storedText(of: adopted["id"]?.stringValue ?? "") == "one\ntwo\rx\nthree four five six\n")
  }

  private func read(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}

extension EditorUnderTest {
  /// Holds the next service back until the returned file exists.
  fileprivate func holdNextService() throws -> String {
    let gate = session.user.directory.file("gate")
    try setServiceCommand { ["sh", "-c", "until [ -e '\(gate)' ]; do sleep 0.05; done; exec \"$@\"", "sh"] + $0 }
    return gate
  }

  fileprivate func type(_ words: String) throws { try typeInLastLine(words) }

  fileprivate func save() throws {
    if Self.kind != "Emacs" {
      try session.terminal.press("Escape")
      try session.terminal.type(":w")
      try session.terminal.press("Enter")
    } else {
      try session.terminal.press("C-x", "C-s")
    }
  }

  /// Saves to something that is not an ordinary file.
  fileprivate func saveInSpite() throws {
    guard Self.kind == "Vim" else { return try save() }
    try session.terminal.press("Escape")
    try session.terminal.type(":w!")
    try session.terminal.press("Enter")
  }

  fileprivate func isModified() throws -> Bool {
    Self.kind == "Vim"
      ? try evaluate("&modified").intValue == 1
      : try evaluate("(if (buffer-modified-p (window-buffer)) 1 0)").intValue == 1
  }

  fileprivate func readFileAgain() throws {
    if Self.kind == "Vim" {
      try session.send(["ex", "edit!"])
    } else {
      _ = try evaluate("(with-current-buffer (window-buffer) (revert-buffer t t) t)")
    }
  }

  fileprivate func visit(_ path: String) throws {
    if Self.kind == "Vim" {
      try session.send(["ex", .string("edit " + path.replacingOccurrences(of: " ", with: "\\ "))])
    } else {
      _ = try evaluate("(progn (switch-to-buffer (find-file-noselect \"\(path)\")) t)")
    }
  }
}
