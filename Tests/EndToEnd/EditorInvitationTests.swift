import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Inviting and answering with the commands of both editors, on real terminals.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorInvitationTests {
  /// Waits until the note has taken the former one's place in the window.
  private func makeThirdNote(in editor: EmacsUnderTest) throws {
    let former = try editor.documentId()
    try editor.createNote("Third")
    try editor.session.wait(for: "the third note") { try editor.documentId() != former }
    _ = try editor.waitUntilAttached()
  }

  /// Two editors whose people have already shared a first note.
  private func meet() throws -> (VimUnderTest, EmacsUnderTest) {
    let ana = try VimUnderTest(user: NotesUser("Ana"), seed: 1, maximumDelay: .zero)
    let ben = try EmacsUnderTest(user: NotesUser("Ben"), seed: 2, maximumDelay: .zero)
    _ = try ana.createAndShare("First", with: ben)
    return (ana, ben)
  }

  private let askedAgainAfter: Duration = .seconds(2)
}

extension EditorInvitationTests {
  /// Asks for the status until the editor shows it: at first, changes may still be on their way.
  private func ask(_ editor: any EditorUnderTest, until part: String, _ question: () throws -> Void) throws {
    let deadline = ContinuousClock.now + Patience.hang
    while true {
      try question()
      do {
        return try editor.waitForScreen(part, within: askedAgainAfter)
      } catch {
        if ContinuousClock.now > deadline { throw error }
      }
    }
  }

  @Test func vimInvitesAndEmacsAccepts() throws {
    let (ana, ben) = try meet()
    try ana.createNote("Second")
    try ana.session.wait(for: "the second note") {
      try ana.evaluate("fnamemodify(bufname(), ':t')").stringValue == "Second.md"
    }
    let second = try ana.waitUntilAttached()
    try ana.session.send(["ex", "NotesInvite Ben"])
    try ben.session.wait(for: "the invitation") {
      try ben.evaluate("(length (notes-lsp--invitations))").intValue == 1
    }
    try ben.waitForScreen("Ana invites you to \"Second\"")
    _ = try ben.evaluate("(progn (notes-lsp-answer (car (notes-lsp--invitations)) 'accept) t)")
    try ben.session.wait(for: "the second note in Emacs") { try ben.documentId() == second }
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
    try makeThirdNote(in: ben)
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

  /// At that prompt Vim draws no popup, but would still give it the keys.
  @Test func aChoiceInVimWaitsUntilThePromptOfAnotherCommandIsAnswered() throws {
    let (ana, ben) = try meet()
    try makeThirdNote(in: ben)
    _ = try ben.evaluate("(progn (notes-invite \"Ana\") t)")
    try ana.waitForScreen("Ben invites you to \"Third\"")
    try ana.session.terminal.type(#":NotesAnswer|echo "one\ntwo""#)
    try ana.session.terminal.press("Enter")
    try ana.waitForScreen("Press ENTER")
    let record = try #require(ana.session.records.last?.path)
    try ana.session.wait(for: "the invitations in Vim") {
      let said = FileManager.default.contents(atPath: record) ?? Data()
      return try String(decoding: said, as: UTF8.self).contains(#""sent":["#) && ana.evaluate("mode()") == "r"
    }
    try ana.session.terminal.press("Enter")
    try ana.waitForScreen("decline")
    try ana.session.terminal.press("Enter")
    try ana.session.wait(for: "the third note in Vim") {
      try ana.evaluate("fnamemodify(bufname(), ':t')").stringValue == "Third.md"
    }
    for editor in [ana, ben] as [any EditorUnderTest] {
      try editor.quit()
      try editor.session.waitForEnd()
    }
  }

  @Test func anInvitationNeverStealsWhatIsTypedAndIsAnsweredByJoining() throws {
    let (ana, ben) = try meet()
    try ben.createNote("Fourth")
    _ = try ben.waitUntilAttached()
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("before ")
    _ = try ben.evaluate("(progn (notes-invite \"Ana\") t)")
    // The invitation has arrived, and waits until she has finished.
    try ana.session.terminal.type("and after")
    try ana.waitForText("before and after")
    try ana.endTyping()
    try ana.waitForScreen("Ben invites you to \"Fourth\"")
    try ana.session.send(["ex", "NotesJoin"])
    try ana.waitForScreen("decline")
    try ana.session.terminal.press("Enter")
    try ana.session.wait(for: "the fourth note in Vim") {
      try ana.evaluate("fnamemodify(bufname(), ':t')").stringValue == "Fourth.md"
    }

    try ana.createNote("Fifth")
    try ana.session.wait(for: "the fifth note") {
      try ana.evaluate("fnamemodify(bufname(), ':t')").stringValue == "Fifth.md"
    }
    _ = try ana.waitUntilAttached()
    try ben.beginTypingAtEnd()
    try ben.session.terminal.type("here too ")
    try ana.session.send(["ex", "NotesInvite Ben"])
    try ben.waitForScreen("Ana invites you to \"Fifth\"")
    try ben.session.terminal.type("as well")
    try ben.waitForText("here too as well")
    for (key, prompt) in [("M-x", "M-x"), ("notes-join", "notes-join")] {
      if key == "M-x" { try ben.session.terminal.press(key) } else { try ben.session.terminal.type(key) }
      try ben.waitForScreen(prompt)
    }
    try ben.session.terminal.press("Enter")
    try ben.waitForScreen("Ticket or words")
    try ben.session.terminal.press("Enter")
    try ben.waitForScreen("ccept")
    try ben.session.terminal.type("a")
    try ben.session.wait(for: "the fifth note in Emacs") {
      try ben.evaluate("(buffer-name)").stringValue?.hasPrefix("Fifth") == true
    }
    for editor in [ana, ben] as [any EditorUnderTest] {
      try editor.quit()
      try editor.session.waitForEnd()
    }
  }

  @Test func peopleAndStatusAreShownAndSharingEnds() throws {
    let (ana, ben) = try meet()
    try ask(ana, until: "Stored; synced with Ben") { try ana.session.send(["ex", "NotesStatus"]) }
    try ask(ben, until: "Stored; synced with Ana") { _ = try ben.evaluate("(progn (notes-status) t)") }

    // The window with the ticket.
    try ana.session.send(["ex", "NotesTicket"])
    try ana.session.send(["ex", "NotesPeers"])
    _ = try ben.evaluate("(progn (save-window-excursion (notes-peers)) t)")
    for (editor, name, code) in [
      (ana, "Ben", "join(getbufline('\\[Notes peers\\]', 1, '$'))"),
      (ben, "Ana", "(with-current-buffer \"*notes peers*\" (buffer-string))"),
    ] as [(any EditorUnderTest, String, String)] {
      try editor.session.wait(for: "\(name) among the people") {
        let shown = try editor.evaluate(code).stringValue ?? ""
        return shown.contains(name) && shown.contains("online") && shown.contains("First")
      }
    }
    try ana.session.send(["ex", "bwipeout!"])

    // Without the proxy, which cannot run the doctor.
    let commands = try [ana.session.user, ben.session.user].map { try $0.command() }
    try ana.session.send(["ex", .string("let g:notes_lsp_command = \(JSONValue(commands[0].map(JSONValue.string)))")])
    try ana.session.send(["ex", "NotesDoctor"])
    let list = commands[1].map { "\"\($0)\"" }.joined(separator: " ")
    _ = try ben.evaluate("(let ((notes-lsp-command '(\(list)))) (save-window-excursion (notes-doctor)) t)")
    for (editor, code) in [
      (ana, "join(getbufline('\\[Notes doctor\\]', 1, '$'))"),
      (ben, "(with-current-buffer \"*notes doctor*\" (buffer-string))"),
    ] as [(any EditorUnderTest, String)] {
      try editor.session.wait(for: "what the doctor says in \(type(of: editor).kind)") {
        let shown = try editor.evaluate(code).stringValue ?? ""
        return shown.contains("notes-lsp 0.1") && shown.contains("clock") && shown.contains("key ")
      }
    }
    try ana.session.send(["ex", "bwipeout!"])

    try ana.session.wait(for: "the note to be the current buffer again") {
      try ana.evaluate("fnamemodify(bufname(), ':t')").stringValue == "First.md"
    }
    try ana.session.send(["ex", "NotesUnshare Ben"])
    try ana.waitForScreen("No longer shared with Ben")
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("not for Ben")
    try ana.endTyping()
    try ana.waitForText("not for Ben")
    try ana.session.wait(for: "the end of typing") { try ana.evaluate("mode()") == "n" }
    try ask(ana, until: "Stored; not shared") { try ana.session.send(["ex", "NotesStatus"]) }
    // Ben's words are not sent either.
    try ben.beginTypingAtEnd()
    try ben.session.terminal.type("not for Ana")
    try ben.waitForText("not for Ana")
    // Ben has nothing left to unshare.
    try ben.session.wait(for: "Ben to be told") {
      try ben.evaluate("(notes-lsp--note-unshared notes-lsp--note)") == true
    }
    _ = try ben.evaluate("(progn (condition-case problem (notes-unshare) (error (message \"%s\" (cadr problem)))) t)")
    try ben.waitForScreen("This note is not shared")
    #expect(try ben.state()?.text.contains("not for Ben") == false)
    #expect(try ana.state()?.text.contains("not for Ana") == false)
    for editor in [ana, ben] as [any EditorUnderTest] {
      try editor.quit()
      try editor.session.waitForEnd()
    }
  }
}
