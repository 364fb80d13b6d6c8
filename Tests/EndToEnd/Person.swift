import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// One person at an editor whose screen has 80 columns.
struct Person {
  let user: NotesUser
  let editor: any EditorUnderTest
  let kind: String
  private let table: ConditionTable

  init(_ kind: String, _ name: String = "Ana") throws {
    self.kind = kind
    table = try ConditionTable()
    user = try NotesUser(name)
    editor =
      kind == VimUnderTest.kind
      ? try VimUnderTest(user: user, seed: 1, maximumDelay: .zero)
      : try EmacsUnderTest(user: user, seed: 1, maximumDelay: .zero)
    try editor.session.terminal.resize(columns: 80, rows: 24)
    if kind == VimUnderTest.kind {
      // Before Vim knows the size, it draws on other rows. It can miss the signal while it starts.
      let editor = editor
      try editor.session.wait(for: "Vim to have the size") {
        kill(editor.session.terminal.programProcessId, SIGWINCH)
        return try editor.evaluate("&lines").intValue == 24
      }
    }
  }

  func makeNote() throws {
    try editor.createNote("Shopping")
    _ = try editor.waitUntilAttached()
  }

  /// Waits until the screen has all texts of this row of the table.
  func shows(_ condition: String) throws {
    let row = try #require(table[condition], "no row \(condition)")
    try editor.session.wait(for: "\(row.texts(in: kind)) on the screen of \(kind)") {
      let screen = try editor.session.terminal.screen()
      return row.texts(in: kind).allSatisfy { screen.contains($0) }
    }
  }

  /// Waits until the editor has shown the message, even if another one has replaced it by now, and the screen has the
  /// rest.
  func hasShown(_ condition: String) throws {
    let row = try #require(table[condition], "no row \(condition)")
    let messages = kind == VimUnderTest.kind ? "execute('messages')" : ChaosPerson.emacsMessages
    try editor.session.wait(for: "\(row.texts(in: kind)) told by \(kind)") {
      let screen = try editor.session.terminal.screen()
      let told = try editor.evaluate(messages).stringValue ?? ""
      return row.texts(in: kind).allSatisfy { screen.contains($0) || told.contains($0) }
    }
  }

  /// Does something harmless, after which the last line counts as read.
  func act() throws {
    if kind == VimUnderTest.kind {
      try editor.session.terminal.press("Escape")
      try editor.session.terminal.type(":")
      try editor.session.terminal.press("Enter")
    } else {
      try editor.session.terminal.press("C-a")
    }
  }

  /// Vim's mode: `n`, `i`, or `r` at the hit-enter prompt.
  func mode() throws -> String? { try editor.evaluate("mode()").stringValue }

  func waitForFile(_ name: String) throws {
    try editor.session.wait(for: name) { try editor.filePath()?.hasSuffix(name) == true }
  }

  /// Waits until the screen has a text.
  func sees(_ text: String) throws { try editor.waitForScreen(text) }

  /// Gives a command by its name, as a person types it, and answers its questions.
  func command(vim: String, emacs: String, answers: String...) throws {
    let terminal = editor.session.terminal
    if kind == VimUnderTest.kind {
      try terminal.type(":" + vim)
    } else {
      try terminal.press("M-x")
      // The captured screen ends at the last visible character.
      try sees("M-x")
      try terminal.type(emacs)
      try sees("M-x " + emacs)
    }
    try terminal.press("Enter")
    guard kind == EmacsUnderTest.kind else { return }
    for answer in answers {
      // The prompt is there once it shows the typed answer.
      try terminal.type(answer)
      try sees(answer)
      try terminal.press("Enter")
    }
  }

  func type(_ text: String) throws {
    try editor.beginTypingAtEnd()
    // At the beginning of a buffer this key is an error, and Emacs discards keys that were typed before it shows an
    // error.
    if kind == EmacsUnderTest.kind, try editor.state()?.text.isEmpty == false {
      try editor.session.terminal.press("C-b")
    }
    try editor.session.terminal.type(text)
    try editor.endTyping()
    try editor.waitForText(text)
  }

  /// Clears the ticket, so that `waitForTicket` waits for the next one.
  func forgetTicket() throws {
    _ = try editor.evaluate(kind == VimUnderTest.kind ? "setreg('\"', '')" : "(progn (setq kill-ring nil) t)")
  }
}
