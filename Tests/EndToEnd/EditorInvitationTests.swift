import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Inviting and answering with the commands of both editors, on real terminals.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorInvitationTests {
  /// Two editors whose people have met over a first note.
  private func meet() throws -> (VimUnderTest, EmacsUnderTest) {
    let ana = try VimUnderTest(user: NotesUser("Ana"), seed: 1, maximumDelay: .zero)
    let ben = try EmacsUnderTest(user: NotesUser("Ben"), seed: 2, maximumDelay: .zero)
    _ = try ana.createAndShare("First", with: ben)
    return (ana, ben)
  }

  @Test func vimInvitesAndEmacsAccepts() throws {
    let (ana, ben) = try meet()
    try ana.createNote("Second")
    try ana.session.wait(for: "the second note") {
      try ana.evaluate("fnamemodify(bufname(), ':t')").stringValue == "Second.md"
    }
    _ = try ana.waitUntilAttached()
    try ana.session.send(["ex", "NotesInvite Ben"])
    try ben.session.wait(for: "the invitation") {
      try ben.evaluate("(length (notes-lsp--invitations))").intValue == 1
    }
    try ben.waitForScreen("Ana invites you to \"Second\"")
    _ = try ben.evaluate("(progn (notes-lsp-answer (car (notes-lsp--invitations)) 'accept) t)")
    _ = try ben.waitUntilAttached()
    try ben.beginTypingAtEnd()
    try ben.session.terminal.type("by Ben")
    try ana.waitForText("by Ben")
    try ana.waitForScreen("by Ben")
    for editor in [ana, ben] as [any EditorUnderTest] {
      try editor.quit()
      try editor.session.waitForEnd()
    }
  }

  @Test func emacsInvitesAndVimAccepts() throws {
    let (ana, ben) = try meet()
    try ben.createNote("Third")
    _ = try ben.waitUntilAttached()
    _ = try ben.evaluate("(progn (notes-invite \"Ana\") t)")
    try ana.waitForScreen("Ben invites you to \"Third\"")
    try ana.session.send(["ex", "NotesAnswer"])
    try ana.waitForScreen("decline")
    // The first choice is to accept.
    try ana.session.terminal.press("Enter")
    try ana.session.wait(for: "the third note in Vim") {
      try ana.evaluate("fnamemodify(bufname(), ':t')").stringValue == "Third.md"
    }
    _ = try ana.waitUntilAttached()
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("by Ana")
    try ana.endTyping()
    try ben.waitForText("by Ana")
    for editor in [ana, ben] as [any EditorUnderTest] {
      try editor.quit()
      try editor.session.waitForEnd()
    }
  }
}
