import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Each person's screen shows the other person's caret, even while it moves only because the text changes.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct CaretTests {}

extension CaretTests {
  @Test func vimsCaretIsSeenInEmacs() throws { try watch(VimUnderTest.self, EmacsUnderTest.self) }
  @Test func emacsesCaretIsSeenInVim() throws { try watch(EmacsUnderTest.self, VimUnderTest.self) }

  private func watch<First: EditorUnderTest & CaretEditor, Second: EditorUnderTest & CaretEditor>(
    _ first: First.Type, _ second: Second.Type
  ) throws {
    let ana = try First(user: NotesUser("Ana"), seed: 1, maximumDelay: .zero)
    let ben = try Second(user: NotesUser("Ben"), seed: 2, maximumDelay: .zero)
    _ = try ana.createAndShare("Carets", with: ben)
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("left right")
    try ben.waitForText("left right")
    try ana.beginTyping(beforeWord: 2)
    try ben.seesCaret(of: "Ana", behind: "left ")

    // Ana types in mid-line: only the text tells where her caret is now.
    for (typed, sofar) in [("a", "left a"), ("bc", "left abc"), ("def ", "left abcdef ")] {
      try ana.session.terminal.type(typed)
      try ben.waitForText(sofar + "right")
      try ben.seesCaret(of: "Ana", behind: sofar)
    }
    try ben.goToCaret(of: "Ana")
    #expect(try ben.caretColumn() == "left abcdef ".count)

    // Ben types exactly there: her caret stays before his words, on both screens.
    try ben.beginTypingHere()
    try ben.session.terminal.type("BEN ")
    try ana.waitForText("left abcdef BEN right")
    try ben.seesCaret(of: "Ana", behind: "left abcdef ")
    #expect(try ana.caretColumn() == "left abcdef ".count)
    try ana.seesCaret(of: "Ben", behind: "left abcdef BEN ")
    try ana.session.terminal.type("ana ")
    try ben.waitForText("left abcdef ana BEN right")
    try ben.seesCaret(of: "Ana", behind: "left abcdef ana ")
    try ana.seesCaret(of: "Ben", behind: "left abcdef ana BEN ")

    // First one person's service dies, then the other's: the caret returns without a key, and follows the next one.
    ana.session.killService()
    try ana.session.wait(for: "a new service") { ana.session.records.count == 2 }
    try ben.seesCaret(of: "Ana", behind: "left abcdef ana ")
    try ana.seesCaret(of: "Ben", behind: "left abcdef ana BEN ")
    ben.session.killService()
    try ben.session.wait(for: "a new service") { ben.session.records.count == 2 }
    try ben.seesCaret(of: "Ana", behind: "left abcdef ana ")
    try ana.seesCaret(of: "Ben", behind: "left abcdef ana BEN ")
    try ana.session.terminal.type("again ")
    try ben.waitForText("ana again BEN")
    try ben.seesCaret(of: "Ana", behind: "left abcdef ana again ")
    try ana.seesCaret(of: "Ben", behind: "left abcdef ana again BEN ")
  }

  @Test func whoJoinsInVimHasACaretBeforeTheFirstKey() throws { try arrive(EmacsUnderTest.self, VimUnderTest.self) }
  @Test func whoJoinsInEmacsHasACaretBeforeTheFirstKey() throws { try arrive(VimUnderTest.self, EmacsUnderTest.self) }

  private func arrive<First: EditorUnderTest & CaretEditor, Second: EditorUnderTest & CaretEditor>(
    _ first: First.Type, _ second: Second.Type
  ) throws {
    let ana = try First(user: NotesUser("Ana"), seed: 5, maximumDelay: .zero)
    let ben = try Second(user: NotesUser("Ben"), seed: 6, maximumDelay: .zero)
    try ana.createNote("Arrival")
    _ = try ana.waitUntilAttached()
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("first")
    try ana.share()
    try ben.join(ana.waitForTicket())
    try ben.waitForText("first")
    try ana.seesCaret(of: "Ben", behind: "", inLine: "first")
  }

  @Test func aFollowedCaretIsFollowedThroughTypingInVim() throws { try follow(EmacsUnderTest.self, VimUnderTest.self) }
  @Test func aFollowedCaretIsFollowedThroughTypingInEmacs() throws {
    try follow(VimUnderTest.self, EmacsUnderTest.self)
  }

  private func follow<First: EditorUnderTest & CaretEditor, Second: EditorUnderTest & CaretEditor>(
    _ first: First.Type, _ second: Second.Type
  ) throws {
    let ana = try First(user: NotesUser("Ana"), seed: 3, maximumDelay: .zero)
    let ben = try Second(user: NotesUser("Ben"), seed: 4, maximumDelay: .zero)
    _ = try ana.createAndShare("Trail", with: ben)
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("left right")
    try ben.waitForText("left right")
    try ana.beginTyping(beforeWord: 2)
    try ben.seesCaret(of: "Ana", behind: "left ")
    try ben.followCaret(of: "Ana")
    try ana.session.terminal.type("over here ")
    try ben.session.wait(for: "the caret to follow") { try ben.caretColumn() == "left over here ".count }
  }
}

extension CaretTests {
  /// No key is pressed in the window that follows.
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func theWindowOfNeovimFollowsACaretToAnotherPlace() throws {
    let ana = try EmacsUnderTest(user: NotesUser("Ana"), seed: 7, maximumDelay: .zero)
    let ben = try NeovimUnderTest(user: NotesUser("Ben"), seed: 8, maximumDelay: .zero)
    _ = try ana.createAndShare("Trail", with: ben)
    let lines = (1...99).map { "line-\($0)." }.joined(separator: "\n")
    try ana.give(vim: "", emacs: "(progn (goto-char (point-min)) (insert \"\(lines)\"))")
    try ben.waitForText(lines)
    try ben.execute("NotesFollow Ana")
    for line in [5, 90, 6] {
      try ana.session.terminal.press("M-g", "g")
      try ana.session.terminal.type("\(line)")
      try ana.session.terminal.press("Enter")
      try ben.waitForScreen("line-\(line).")
    }
  }
}

/// What these tests need of an editor.
private protocol CaretEditor: EditorUnderTest {
  /// Puts the caret before a word of the only line, counted from 1, ready to type.
  func beginTyping(beforeWord number: Int) throws
  func beginTypingHere() throws
  func goToCaret(of name: String) throws
  func followCaret(of name: String) throws
  /// The column of the person's own caret, from 0.
  func caretColumn() throws -> Int
}

extension CaretEditor {
  /// Waits until the screen shows the other person's caret on the character after `words`, which begin a line.
  func seesCaret(of name: String, behind words: String, inLine start: String? = nil) throws {
    try session.wait(for: "\(name)'s caret behind \"\(words)\" on the screen of \(Self.kind)") {
      let lines = try session.terminal.styledScreen().components(separatedBy: "\n")
      let line = lines.first { $0.plain.hasPrefix(start ?? words) }
      return line?.beforeBackground == words
    }
  }
}

extension String {
  /// Without escape sequences.
  fileprivate var plain: String { replacing(/\u{1B}\[[0-9;]*m/, with: "") }

  /// The text before the first colored background, without escape sequences; nil if there is none.
  fileprivate var beforeBackground: String? {
    guard let color = firstRange(of: /\u{1B}\[[0-9;]*\b(48;5;|4[0-7]|7\b)[0-9;]*m/) else { return nil }
    return String(self[..<color.lowerBound]).plain
  }
}

extension VimUnderTest: CaretEditor {
  fileprivate func beginTyping(beforeWord number: Int) throws {
    try session.terminal.press("Escape", "0")
    for _ in 1..<number { try session.terminal.press("w") }
    try session.terminal.type("i")
  }

  fileprivate func beginTypingHere() throws { try session.terminal.type("i") }
  fileprivate func goToCaret(of name: String) throws { _ = try evaluate("execute('NotesGo \(name)')") }
  fileprivate func followCaret(of name: String) throws { _ = try evaluate("execute('NotesFollow \(name)')") }
  fileprivate func caretColumn() throws -> Int { try evaluate("col('.')").intValue.map { $0 - 1 } ?? -1 }
}

extension EmacsUnderTest: CaretEditor {
  fileprivate func beginTyping(beforeWord number: Int) throws {
    try session.terminal.press("C-a")
    for _ in 1..<number { try session.terminal.press("M-f") }
    try session.terminal.press("C-f")
  }

  fileprivate func beginTypingHere() throws {}

  fileprivate func goToCaret(of name: String) throws {
    _ = try evaluate("(progn (call-interactively #'notes-go) (set-window-point nil (point)) t)")
  }

  fileprivate func followCaret(of name: String) throws {
    _ = try evaluate("(progn (call-interactively #'notes-follow) t)")
  }

  fileprivate func caretColumn() throws -> Int {
    try evaluate("(save-excursion (goto-char (window-point)) (- (point) (line-beginning-position)))").intValue ?? -1
  }
}
