import Foundation
import NotesHarness
import TestSupport
import Testing

/// Undo in real editors: it undoes the person's own words, whatever others typed since.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorUndoTests {}

extension EditorUndoTests {
  @Test func undoInVimTakesBackOnlyOnesOwnWords() throws { try undoOwnWords(VimUnderTest.self, EmacsUnderTest.self) }
  @Test func undoInEmacsTakesBackOnlyOnesOwnWords() throws { try undoOwnWords(EmacsUnderTest.self, VimUnderTest.self) }

  /// A person counts commands.
  @Test func oneUndoInVimTakesBackOneCommand() throws {
    let ana = try VimUnderTest(user: NotesUser("Ana"), seed: 23, maximumDelay: .zero)
    let terminal = ana.session.terminal
    let lines = (1...6).map { "line \($0) beta" }
    func wait(_ what: String, for expected: [String]) throws {
      try ana.session.wait(for: what) {
        guard let state = try ana.state() else { return false }
        return state.isSynced && state.text.split(separator: "\n").map(String.init) == expected
      }
    }
    try ana.createNote("Draft")
    try ana.session.wait(for: "the note") { try ana.documentId() != nil }
    _ = try ana.evaluate("setline(1, ['\(lines.joined(separator: "', '"))'])")
    try wait("the lines", for: lines)
    let commands: [(String, [String], [String])] = [
      ("a block", ["gg0", "C-v", "G", "I", "> ", "Escape"], lines.map { "> " + $0 }),
      (":g and :normal", [":g/beta/normal I* ", "Enter"], lines.map { "* " + $0 }),
      ("a macro", ["gg0qaI- ", "Escape", "jq", "u", "gg3@a"], lines.enumerated().map { ($0 < 3 ? "- " : "") + $1 }),
      ("a count", ["gg020iha ", "Escape"], [String(repeating: "ha ", count: 20) + lines[0]] + lines.dropFirst()),
    ]
    for (what, keys, expected) in commands {
      for key in keys {
        if ["C-v", "Escape", "Enter"].contains(key) { try terminal.press(key) } else { try terminal.type(key) }
        if key == "u" { try wait("the recorded line", for: lines) }
      }
      try wait(what, for: expected)
      try ana.undo()
      try wait("one undo of \(what)", for: lines)
    }
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
  }

  /// The service undoes. The rest of the macro, and what is typed ahead, is meant for the text after that.
  @Test func aMacroWithAnUndoDoesTheSameInVimAsInAnyFile() throws { try undoInMacro(VimUnderTest.self) }
  @Test func aMacroWithAnUndoDoesTheSameInEmacsAsInAnyFile() throws { try undoInMacro(EmacsUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func aMacroWithAnUndoDoesTheSameInNeovimAsInAnyFile() throws { try undoInMacro(NeovimUnderTest.self) }

  private func undoInMacro<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let ana = try Editor(user: NotesUser("Ana"), seed: 26, maximumDelay: .zero)
    let terminal = ana.session.terminal
    func wait(for lines: [String]) throws {
      try ana.session.wait(for: "\(lines)") {
        guard let state = try ana.state() else { return false }
        return state.isSynced && state.text.split(separator: "\n").map(String.init) == lines
      }
    }
    func press(_ keys: [String]) throws {
      for key in keys {
        if key.count > 2 || key.hasPrefix("F") { try terminal.press(key) } else { try terminal.type(key) }
      }
    }
    let lines = ["alpha", "bravo", "charlie", "delta"], isEmacs = kind == EmacsUnderTest.self
    try ana.createNote("Draft")
    _ = try ana.waitUntilAttached()
    try ana.give(
      vim: "call setline(1, ['\(lines.joined(separator: "', '"))'])",
      emacs: "(progn (erase-buffer) (insert \"\(lines.joined(separator: "\\n"))\\n\") (goto-char 1))")
    try wait(for: lines)
    try press(isEmacs ? ["F3", "C-e", " X"] : ["gg", "qa", "A", " X", "Escape"])
    try wait(for: ["alpha X", "bravo", "charlie", "delta"])
    try ana.undo()
    try wait(for: lines)
    try press(isEmacs ? [" Y", "C-n", "F4", "C-u", "2", "C-x", "e"] : ["A", " Y", "Escape", "j", "q", "@", "a"])
    if !isEmacs {
      // To Vim, 2@a is one command: its second undo would take back what the first round typed, too.
      try wait(for: ["alpha Y", "bravo Y", "charlie", "delta"])
      try press(["@", "a"])
    }
    try wait(for: ["alpha Y", "bravo Y", "charlie Y", "delta"])
    if !isEmacs {
      try terminal.type("ggddujdd")
      try wait(for: ["alpha Y", "charlie Y", "delta"])
    }
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
  }

  @Test func undoInVimChangesNoBufferThatIsNotModifiable() throws { try undoReadOnly(VimUnderTest.self, "E21") }
  @Test func undoInEmacsChangesNoReadOnlyBuffer() throws { try undoReadOnly(EmacsUnderTest.self, "read-only") }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func undoInNeovimChangesNoBufferThatIsNotModifiable() throws { try undoReadOnly(NeovimUnderTest.self, "E21") }

  private func undoReadOnly<Editor: EditorUnderTest>(_ kind: Editor.Type, _ refusal: String) throws {
    let ana = try Editor(user: NotesUser("Ana"), seed: 24, maximumDelay: .zero)
    try ana.createNote("Draft")
    _ = try ana.waitUntilAttached()
    try ana.typeInLastLine("words")
    _ = try ana.waitUntilAttached()
    try ana.give(vim: "setlocal nomodifiable", emacs: "(read-only-mode 1)")
    // Keys take another way than commands: the answer shows that the command was carried out.
    _ = try ana.state()
    try ana.undo()
    try ana.waitForScreen(refusal)
    try ana.waitForText("words")
    try ana.give(vim: "setlocal modifiable", emacs: "(read-only-mode -1)")
    _ = try ana.state()
    try ana.undo()
    try ana.session.wait(for: "the undo") { try ana.state()?.text.contains("words") == false }
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
  }

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
    // A slow editor sends everything that was typed as one change, which is one undo step.
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
    // Nothing more can be undone, and the note itself stays.
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

  @Test func undoInVimReachesBackBehindRestarts() throws { try undoBehindRestarts(VimUnderTest.self) }
  @Test func undoInEmacsReachesBackBehindRestarts() throws { try undoBehindRestarts(EmacsUnderTest.self) }

  /// Types two lines and kills the service, then ends the editor and starts another. Undoes and redoes each time.
  private func undoBehindRestarts<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let user = try NotesUser("Ana")
    let first = try kind.init(user: user, seed: 23, maximumDelay: .zero)
    try first.createNote("List")
    _ = try first.waitUntilAttached()
    try typeTwoLines(in: first)
    first.session.killService()
    try first.session.wait(for: "the service is away") { try first.state()?.isSynced != true }
    // Until the next service knows the buffer, it answers that there is nothing to undo.
    try wait(first, for: "the buffer to be known") { $0.contains("milk\ntea") }
    // Typing that the killed service had not stored in its undo groups belongs to the last group, which may be both
    // lines.
    try first.undo()
    try wait(first, for: "the undone line") { !$0.contains("tea") }
    try first.redo()
    try wait(first, for: "the line done again") { $0.contains("milk\ntea") }
    try first.quit()
    try first.session.waitForEnd()

    let second = try kind.init(user: user, seed: 24, maximumDelay: .zero)
    try second.openNote("List")
    _ = try second.waitUntilAttached()
    try wait(second, for: "the reopened note") { $0.contains("milk\ntea") }
    try second.undo()
    try wait(second, for: "the last line to go") { !$0.contains("tea") }
    try second.undo()
    try wait(second, for: "the first line to go") { !$0.contains("milk") }
    try second.redo()
    try second.redo()
    try wait(second, for: "both lines") { $0.contains("milk\ntea") }
    try second.quit()
    try second.session.waitForEnd()
  }

  private func typeTwoLines(in editor: some EditorUnderTest) throws {
    try editor.beginTypingAtEnd()
    try editor.session.terminal.type("milk")
    try editor.session.terminal.press("Enter")
    try wait(editor) { $0.contains("milk\n") }
    try editor.session.terminal.type("tea")
    try editor.endTyping()
    try wait(editor) { $0.contains("milk\ntea") }
  }

  private func wait(
    _ editor: some EditorUnderTest, for what: String = "the effect of undo or redo", _ condition: (String) -> Bool
  ) throws {
    try editor.session.wait(for: what) {
      try editor.state().map { $0.isSynced && condition($0.text) } ?? false
    }
  }

  @Test func vimsUndoCommandsAskTheService() throws {
    let vim = try VimUnderTest(user: NotesUser("Ana"), seed: 25, maximumDelay: .zero)
    try vim.createNote("List")
    _ = try vim.waitUntilAttached()
    try typeTwoLines(in: vim)
    func give(_ command: String, _ condition: (String) -> Bool) throws {
      try vim.session.terminal.type(":" + command)
      try vim.session.terminal.press("Enter")
      try wait(vim, condition)
    }
    let both = { (text: String) in text.contains("milk\ntea") }
    let one = { (text: String) in text.contains("milk\n") && !text.contains("tea") }
    let none = { (text: String) in !text.contains("milk") && !text.contains("tea") }
    try give("undo", one)
    try give("redo", both)
    try give("earlier 2", none)
    try give("later 1", one)
    try give("later 1h", both)
    try give("earlier 1h", none)
    try give("lat 9", both)
    try give("undo 0", none)
    try give("red", one)
    try give("undo 3", one)
    try vim.waitForScreen("Changes have no numbers here; try :earlier N")
    try give("earlier 1f", one)
    try vim.waitForScreen("Written states: see :NotesHistory")
    try vim.quit()
    try vim.session.waitForEnd()
  }
}
