import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Editors and the files of notes, beyond opening and saving: other names, links, recovery after a crash.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorFileCommandTests {}

extension EditorFileCommandTests {
  @Test func aFileThatWasMovedIsTheNoteWhenVimReadsIt() throws { try readMoved(VimUnderTest.self) }
  @Test func aFileThatWasMovedIsTheNoteWhenEmacsReadsIt() throws { try readMoved(EmacsUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func aFileThatWasMovedIsTheNoteWhenNeovimReadsIt() throws { try readMoved(NeovimUnderTest.self) }

  private func readMoved<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let user = try NotesUser("Ana")
    let first = try user.startInitialized()
    let id = try first.request("notes/create", ["title": "Tea", "text": "green\nblack\n"])["id"]?.stringValue
    try first.shutdown()
    let (old, new) = (user.notes + "/Tea.md", user.notes + "/archive/Tea.md")
    try FileManager.default.createDirectory(atPath: user.notes + "/archive", withIntermediateDirectories: false)
    let editor = try Editor(user: user, seed: 23, maximumDelay: .zero)
    try editor.createNote("Other")
    _ = try editor.waitUntilAttached()
    // No service watches the new folder.
    try FileManager.default.moveItem(atPath: old, toPath: new)
    try editor.give(vim: "edit \(new)", emacs: "(find-file \"\(new)\")")
    try editor.waitForText("black")
    try editor.session.wait(for: "the note") { try editor.documentId() == id }
    #expect(try editor.filePath() == new)
    #expect(!FileManager.default.fileExists(atPath: old))
    try editor.quit()
    try editor.session.waitForEnd()
  }

  /// A saved note of one line in the editor.
  private func savedNote<Editor: EditorUnderTest>(
    _ kind: Editor.Type, seed: UInt64
  ) throws -> (editor: Editor, id: String, path: String) {
    let editor = try Editor(user: NotesUser("Ana"), seed: seed, maximumDelay: .zero)
    try editor.createNote("List")
    let id = try editor.waitUntilAttached()
    let path = editor.session.user.notes + "/List.md"
    try type("first", in: editor)
    try editor.give(vim: "write", emacs: "(let ((require-final-newline t)) (save-buffer))")
    try editor.session.wait(for: "the saved file") { read(path) == "first\n" }
    _ = try editor.waitUntilAttached()
    return (editor, id, path)
  }

  private func read(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

  private func type<Editor: EditorUnderTest>(_ words: String, in editor: Editor) throws {
    try editor.typeInLastLine(words)
  }

  private func end<Editor: EditorUnderTest>(_ editor: Editor) throws {
    try editor.quit()
    try editor.session.waitForEnd()
    #expect(try editor.session.audits().flatMap(\.complaints) == [])
  }

  @Test func aNoteThatVimSavesAsItselfStaysTheNote() throws { try saveAsItself(VimUnderTest.self) }
  @Test func aNoteThatEmacsWritesToItsOwnFileStaysTheNote() throws { try saveAsItself(EmacsUnderTest.self) }

  private func saveAsItself<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (ana, id, path) = try savedNote(kind, seed: 71)
    try type(" second", in: ana)
    try ana.give(vim: "saveas! %", emacs: "(write-file buffer-file-name)")
    try ana.session.wait(for: "the saved file") { read(path) == "first second\n" }
    #expect(try ana.documentId() == id)
    #expect(try !ana.session.terminal.screen().contains("plain copy"))
    // Changes from elsewhere still arrive, and typed words are still sent.
    _ = try ChildProcess.run(["sed", "-i", "1i from sed", path])
    try ana.waitForText("from sed\nfirst second")
    try type(" third", in: ana)
    _ = try ana.waitUntilAttached()
    if kind.kind == "Emacs" {
      #expect(try ana.evaluate("(if (buffer-local-value 'buffer-auto-save-file-name (window-buffer)) 1 0)") == 0)
    }
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "from sed\nfirst second third\n")
  }

  @Test func aBufferOfVimThatGetsItsNameBackDeletesNoWords() throws { try renameAndBack(VimUnderTest.self) }
  @Test func aBufferOfEmacsThatGetsItsNameBackDeletesNoWords() throws { try renameAndBack(EmacsUnderTest.self) }
  @Test(.enabled(if: NotesBinary.find("nvim") != nil))
  func aBufferOfNeovimThatGetsItsNameBackDeletesNoWords() throws { try renameAndBack(NeovimUnderTest.self) }

  private func renameAndBack<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (ana, id, path) = try savedNote(kind, seed: 77)
    try ana.give(vim: "file Other.md", emacs: "(set-visited-file-name \"Other.md\")")
    try ana.waitForScreen("plain copy")
    let other = try ana.session.user.startInitialized()
    let note = try other.request("notes/open", ["id": .string(id)])
    let client = try ModelClient(other, note: note)
    client.edit(0..<0, with: "others ")
    client.flush()
    try ana.session.wait(for: "other people's words in the store") {
      try other.collect()
      return try ana.session.user.storedText(of: id) == "others first\n"
    }
    try ana.give(vim: "file \(path)", emacs: "(set-visited-file-name \"\(path)\")")
    #expect(try ana.waitUntilAttached() == id)
    try ana.waitForText("others first")
    try type(" typed", in: ana)
    try ana.give(vim: "write!", emacs: "(cl-letf (((symbol-function 'yes-or-no-p) #'always)) (save-buffer))")
    try ana.session.wait(for: "the saved file") { read(path)?.hasPrefix("others first typed") ?? false }
    try other.shutdown()
    try end(ana)
    #expect(try ana.session.user.storedText(of: id).hasPrefix("others first typed"))
  }

  @Test func aClosedNoteWhoseFileIsRenamedIsStillTheNoteInVim() throws { try openRenamedFile(VimUnderTest.self) }
  @Test func aClosedNoteWhoseFileIsRenamedIsStillTheNoteInEmacs() throws { try openRenamedFile(EmacsUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func aClosedNoteWhoseFileIsRenamedIsStillTheNoteInNeovim() throws { try openRenamedFile(NeovimUnderTest.self) }

  /// No service runs while another program renames the file.
  private func openRenamedFile<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (first, id, path) = try savedNote(kind, seed: 81)
    try end(first)
    let user = first.session.user, new = user.notes + "/Shopping.md"
    try FileManager.default.moveItem(atPath: path, toPath: new)
    let ana = try Editor(user: user, seed: 82, maximumDelay: .zero)
    try ana.give(vim: "edit \(new)", emacs: "(find-file \"\(new)\")")
    #expect(try ana.waitUntilAttached() == id)
    try type(" second", in: ana)
    try ana.give(vim: "write", emacs: "(let ((require-final-newline t)) (save-buffer))")
    try ana.session.wait(for: "the saved file") { read(new) == "first second\n" }
    try end(ana)
    #expect(try user.storedText(of: id) == "first second\n")
    #expect(read(path) == nil)
    let listed = try user.run(["list"]).output
    #expect(listed.contains("Shopping") && !listed.contains("List"), "\(listed)")
  }

  /// The file has fewer lines than the buffer, until the note's text is back.
  @Test func pointStaysInEmacsWhenTheFileIsReadAgain() throws {
    let (ana, _, _) = try savedNote(EmacsUnderTest.self, seed: 84)
    try type("\nsecond\nthird", in: ana)
    _ = try ana.waitUntilAttached()
    try ana.session.terminal.press("C-p", "M-x")
    try ana.session.terminal.type("revert-buffer")
    try ana.session.terminal.press("Enter")
    try ana.waitForScreen("yes or no")
    try ana.session.terminal.type("yes")
    try ana.session.terminal.press("Enter")
    try ana.session.wait(for: "the end of the question") { try !ana.session.terminal.screen().contains("yes or no") }
    try ana.waitForText("first\nsecond\nthird")
    _ = try ana.waitUntilAttached()
    try ana.session.terminal.type("!")
    try ana.waitForText("first\nsecon!d\nthird")
    try end(ana)
  }

  @Test func aNoteWhoseFileIsRenamedInDiredIsStillTheNote() throws {
    let (ana, id, path) = try savedNote(EmacsUnderTest.self, seed: 83)
    let new = ana.session.user.notes + "/Shopping.md"
    try ana.give(vim: "", emacs: "(progn (require 'dired-aux) (dired-rename-file \"\(path)\" \"\(new)\" nil))")
    try ana.session.wait(for: "the renamed note") { try ana.filePath() == new && ana.documentId() == id }
    _ = try ana.waitUntilAttached()
    try type(" second", in: ana)
    _ = try ana.waitUntilAttached()
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "first second\n")
    #expect(try ana.session.user.run(["list"]).output.contains("Shopping"))
  }

  @Test func whatVimPutsAndSavesAsAnotherFileInOneCommandIsInTheNote() throws { try putAndSaveAs(VimUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func whatNeovimPutsAndSavesAsAnotherFileInOneCommandIsInTheNote() throws { try putAndSaveAs(NeovimUnderTest.self) }

  /// The editor has not reported the change yet when the buffer gets its other name.
  private func putAndSaveAs<Editor: VimLikeUnderTest>(_ kind: Editor.Type) throws {
    let (ana, id, path) = try savedNote(kind, seed: 80)
    let other = ana.session.user.directory.file("other.md")
    try ana.give(vim: "put ='last words' | saveas! \(other)", emacs: "")
    try ana.session.wait(for: "the copy") { read(other) == "first\nlast words\n" }
    try ana.waitForScreen("plain copy")
    #expect(read(path)?.hasPrefix("first\n") == true)
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "first\nlast words\n")
  }

  @Test func vimDoesNotReplaceANoteByAPartOfIt() throws { try writePart(VimUnderTest.self) }
  @Test func emacsDoesNotReplaceANoteByAPartOfIt() throws { try writePart(EmacsUnderTest.self) }
  @Test(.enabled(if: NotesBinary.find("nvim") != nil))
  func neovimDoesNotReplaceANoteByAPartOfIt() throws { try writePart(NeovimUnderTest.self) }

  private func writePart<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (ana, id, path) = try savedNote(kind, seed: 79)
    try type(" typed", in: ana)
    try ana.give(vim: "call append(1, 'second')", emacs: "(save-excursion (goto-char (point-max)) (insert \"second\"))")
    try ana.waitForText("first typed\nsecond")
    _ = try ana.waitUntilAttached()
    try ana.give(vim: "1write! %", emacs: "(write-region (point-min) (+ 5 (point-min)) buffer-file-name)")
    try ana.waitForScreen("a part cannot replace the note")
    #expect(read(path) == "first\n")
    // A part can be written to another file, or appended to the note's own one.
    let other = ana.session.user.directory.file("part")
    try ana.give(vim: "1write! \(other)", emacs: "(write-region (point-min) (+ 5 (point-min)) \"\(other)\")")
    try ana.session.wait(for: "the part in another file") { read(other)?.hasPrefix("first") ?? false }
    try ana.give(vim: "write", emacs: "(let ((require-final-newline t)) (save-buffer))")
    try ana.session.wait(for: "the saved file") { read(path) == "first typed\nsecond\n" }
    try ana.give(vim: "2write >> %", emacs: "(write-region \"second\\n\" nil buffer-file-name t)")
    try ana.waitForText("first typed\nsecond\nsecond")
    #expect(read(path) == "first typed\nsecond\nsecond\n")
    _ = try ana.waitUntilAttached()
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "first typed\nsecond\nsecond\n")
  }

  /// Some plugins of Vim turn autocommands off.
  @Test func aFileThatVimReadsAgainWithoutAWordDeletesNoWords() throws {
    let (ana, id, path) = try savedNote(VimUnderTest.self, seed: 78)
    try type(" unsaved", in: ana)
    _ = try ana.waitUntilAttached()
    try ana.session.send(["ex", "noautocmd edit!"])
    try ana.waitForText("first unsaved")
    try type(" later", in: ana)
    _ = try ana.waitUntilAttached()
    try ana.session.send(["ex", "write"])
    try ana.session.wait(for: "the saved file") { read(path) == "first unsaved later\n" }
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "first unsaved later\n")
  }

  /// What is read again is the file's text; the words that the file lacks were typed by two people.
  @Test(
    .enabled(if: NeovimUnderTest.isHere), arguments: ["edit!", "bdelete! | edit List.md", "%bdelete! | edit List.md"])
  func aFileThatNeovimReadsAgainDeletesNoWords(command: String) throws {
    let (ana, id, path) = try savedNote(NeovimUnderTest.self, seed: 80)
    let other = try ana.session.user.startInitialized()
    let note = try other.request("notes/open", ["id": .string(id)])
    let client = try ModelClient(other, note: note)
    client.edit(0..<0, with: "others ")
    client.flush()
    try ana.session.wait(for: "the others' words") {
      try other.collect()
      return try ana.state()?.text == "others first\n"
    }
    try type(" unsaved", in: ana)
    _ = try ana.waitUntilAttached()
    // Neovim reports the caret as soon as it shows the buffer again, unless it has just done so.
    let presence = #"require("notes_lsp.presence").report"#
    try ana.session.wait(for: "the end of the pause after the last report") {
      try ana.evaluate(
        "for i = 1, 20 do local name, it = debug.getupvalue(\(presence), i) if name == 'is_pausing' then return it end end"
      )
        == false
    }
    try ana.session.send(["ex", .string("cd \(ana.session.user.notes) | \(command)")])
    try ana.waitForText("others first unsaved")
    #expect(try ana.waitUntilAttached() == id)
    try type(" later", in: ana)
    _ = try ana.waitUntilAttached()
    try ana.session.send(["ex", "write"])
    try ana.session.wait(for: "the saved file") { read(path) == "others first unsaved later\n" }
    try other.shutdown()
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "others first unsaved later\n")
  }

  @Test(.enabled(if: NeovimUnderTest.isHere), arguments: ["bwipeout!", "bdelete!"])
  func whatNeovimChangesAndClosesAtOnceIsInTheNote(command: String) throws {
    let (ana, id, _) = try savedNote(NeovimUnderTest.self, seed: 81)
    try ana.session.send(["ex", .string("put ='second' | \(command)")])
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "first\nsecond\n")
  }

  /// An Emacs crashed and left words in its auto-save file; other words were written since.
  @Test func textThatEmacsRecoversFromItsAutoSaveFileDeletesNoWords() throws {
    let (ana, id, _) = try savedNote(EmacsUnderTest.self, seed: 72)
    try type(" later", in: ana)
    _ = try ana.waitUntilAttached()
    let rescued = ana.session.user.notes + "/#List.md#"
    try "first\nrescued\n".write(toFile: rescued, atomically: true, encoding: .utf8)
    try ana.give(vim: "", emacs: "(cl-letf (((symbol-function 'yes-or-no-p) #'always)) (recover-this-file))")
    try ana.waitForText("rescued")
    try ana.waitForText("first later")
    _ = try ana.waitUntilAttached()
    try type(" and more", in: ana)
    _ = try ana.waitUntilAttached()
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "first later\nrescued and more\n")
  }

  /// A saved note in Emacs with words of this person, and of another, that no file has.
  private func unsavedWordsOfTwo(seed: UInt64) throws -> (ana: EmacsUnderTest, id: String, other: NotesProcess) {
    let (ana, id, _) = try savedNote(EmacsUnderTest.self, seed: seed)
    try type(" own", in: ana)
    _ = try ana.waitUntilAttached()
    let other = try ana.session.user.startInitialized()
    let client = try ModelClient(other, note: try other.request("notes/open", ["id": .string(id)]))
    client.edit(0..<0, with: "others ")
    client.flush()
    try ana.session.wait(for: "other people's words in Emacs") {
      try other.collect()
      return try ana.state()?.text == "others first own\n"
    }
    _ = try ana.waitUntilAttached()
    return (ana, id, other)
  }

  /// The file's text is in the buffer already when Emacs asks, and its timers run.
  @Test(arguments: ["n", "C-g"]) func aQuestionWhileEmacsReadsAFileAgainDeletesNoWords(answer: String) throws {
    let (ana, id, other) = try unsavedWordsOfTwo(seed: 80)
    try "((nil . ((eval . (setq unsafe 1)))))\n".write(
      toFile: ana.session.user.notes + "/.dir-locals.el", atomically: true, encoding: .utf8)
    try ana.session.send(["expr", "(with-current-buffer (window-buffer) (revert-buffer t t) t)", 0])
    try ana.waitForScreen("Do you want to apply it")
    #expect(try ana.evaluate("(progn (mapc #'notes-lsp--drain notes-lsp--notes) (length notes-lsp--notes))") == 1)
    try ana.session.terminal.press(answer)
    try ana.waitForText("others first own")
    try type(" later", in: ana)
    _ = try ana.waitUntilAttached()
    try other.shutdown()
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "others first own later\n")
  }

  @Test(arguments: ["(find-file-literally buffer-file-name)", "(hexl-mode)"])
  func bytesThatEmacsShowsInPlaceOfANoteDeleteNoWords(command: String) throws {
    let (ana, id, other) = try unsavedWordsOfTwo(seed: 81)
    let discarding = "(lambda (prompt &rest _) (not (string-match-p \"save the file\" prompt)))"
    try ana.give(vim: "", emacs: "(cl-letf (((symbol-function 'y-or-n-p) \(discarding))) \(command))")
    try ana.waitForScreen("shown as bytes")
    // Hexl shows an address in its place within half a second.
    try ana.session.wait(for: "a message") {
      try ana.evaluate(ChaosPerson.emacsMessages).stringValue?.contains("C-x C-v RET opens the note") == true
    }
    #expect(try ana.documentId() == nil)
    try ana.give(vim: "", emacs: "(progn (set-buffer-modified-p nil) (find-alternate-file buffer-file-name))")
    #expect(try ana.waitUntilAttached() == id)
    try ana.waitForText("others first own")
    try type(" later", in: ana)
    _ = try ana.waitUntilAttached()
    try other.shutdown()
    try end(ana)
    let stored = try ana.session.user.storedText(of: id)
    #expect(stored == "others first own later\n")
  }

  @Test func whatIsWrittenToTheFileBehindALinkComesIntoVim() throws { try followLink(VimUnderTest.self) }
  @Test func whatIsWrittenToTheFileBehindALinkComesIntoEmacs() throws { try followLink(EmacsUnderTest.self) }

  /// The working file is elsewhere, and a symbolic link is in its place.
  private func followLink<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (first, id, path) = try savedNote(kind, seed: 73)
    try end(first)
    let folder = first.session.user.directory.file("elsewhere")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let file = folder + "/real.md"
    try FileManager.default.moveItem(atPath: path, toPath: file)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: file)
    let ana = try Editor(user: first.session.user, seed: 74, maximumDelay: .zero)
    try ana.openNote("List")
    #expect(try ana.waitUntilAttached() == id)
    _ = try ChildProcess.run(["sh", "-c", "echo outside >> '\(file)'"])
    try ana.waitForText("first\noutside")
    // This is so soon before the save that neither editor nor service has noticed it.
    try type(" typed", in: ana)
    _ = try ChildProcess.run(["sed", "-i", "1i at the last moment", file])
    try ana.give(vim: "write", emacs: "(save-buffer)")
    try ana.waitForText("at the last moment\nfirst\noutside typed")
    _ = try ana.waitUntilAttached()
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "at the last moment\nfirst\noutside typed\n")
    #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: path)) == file)
  }

  @Test func aLinkToTheFileOfANoteIsTheNoteInVim() throws { try openThroughLink(VimUnderTest.self) }
  @Test func aLinkToTheFileOfANoteIsTheNoteInEmacs() throws { try openThroughLink(EmacsUnderTest.self) }

  private func openThroughLink<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (first, id, path) = try savedNote(kind, seed: 75)
    try end(first)
    let link = first.session.user.directory.file("link.md")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let ana = try Editor(user: first.session.user, seed: 76, maximumDelay: .zero)
    try ana.give(vim: "edit \(link)", emacs: "(switch-to-buffer (find-file-noselect \"\(link)\"))")
    #expect(try ana.waitUntilAttached() == id)
    try type(" typed", in: ana)
    _ = try ana.waitUntilAttached()
    try ana.give(vim: "write", emacs: "(save-buffer)")
    try ana.session.wait(for: "the saved file") { read(path) == "first typed\n" }
    try end(ana)
    #expect(try ana.session.user.storedText(of: id) == "first typed\n")
  }
}
