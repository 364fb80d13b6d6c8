import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// A person who joins a note keeps typing while the other side is silent, and the words go where they were meant to go.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct WaitingTests {}

extension WaitingTests {
  @Test func vimIsFreeWhileAHostIsSilent() throws { try typeWhileJoining(VimUnderTest.self) }
  @Test func emacsIsFreeWhileAHostIsSilent() throws { try typeWhileJoining(EmacsUnderTest.self) }

  private func typeWhileJoining<Editor: EditorUnderTest & WaitingEditor>(_ kind: Editor.Type) throws {
    let ana = try VimUnderTest(user: NotesUser("Ana"), seed: 1, maximumDelay: .zero)
    let ben = try Editor(user: NotesUser("Ben"), seed: 2, maximumDelay: .zero)
    try ana.createNote("Silence")
    _ = try ana.waitUntilAttached()
    try ana.share()
    let ticket = try ana.waitForTicket()
    try ben.createNote("Mine")
    let mine = try ben.waitUntilAttached()

    let host = try #require(ana.session.records.last?.processId)
    kill(host, SIGSTOP)
    defer { kill(host, SIGCONT) }
    try ben.joinByKeys(ticket)
    try ben.waitForScreen("Joining")
    try ben.beginTypingAtEnd()
    try ben.session.terminal.type("for Ben alone")
    // The editor handles each key while the join still waits.
    try ben.waitForScreen("for Ben alone")
    #expect(try ben.isWaiting())
    kill(host, SIGCONT)
    try ben.session.wait(for: "the announcement") { try ben.messages().contains("\"Silence\" is ready") }
    try ben.session.terminal.type(" and for no other person")
    try ben.endTyping()
    // Until then Vim's last line showed the mode.
    if kind is VimUnderTest.Type { try ben.waitForScreen("\"Silence\" is ready: :NotesShow") }
    try ben.waitForText("for Ben alone and for no other person")
    #expect(try ben.documentId() == mine)
    try ben.showByKeys()
    try ben.session.wait(for: "the joined note") { try ben.documentId().map { $0 != mine } ?? false }
    _ = try ben.waitUntilAttached()
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("hello Ben")
    try ben.waitForText("hello Ben")
    #expect(try ben.state()?.text.contains("alone") == false)
    #expect(try ana.state()?.text.contains("alone") == false)
  }

  @Test func aDeadTicketHoldsVimUpForNoKey() throws { try typeBesideADeadTicket(VimUnderTest.self) }
  @Test func aDeadTicketHoldsEmacsUpForNoKey() throws { try typeBesideADeadTicket(EmacsUnderTest.self) }

  private func typeBesideADeadTicket<Editor: EditorUnderTest & WaitingEditor>(_ kind: Editor.Type) throws {
    let ana = try NotesUser("Ana").startInitialized()
    let note = try ana.request("notes/create", ["title": "Gone"])
    let ticket = try ana.request("notes/share", ["id": note["id"] ?? .null])["ticket"]?.stringValue ?? ""
    let ben = try Editor(user: NotesUser("Ben"), seed: 3, maximumDelay: .zero)
    try ben.createNote("Mine")
    let mine = try ben.waitUntilAttached()
    kill(ana.child.processId, SIGSTOP)
    defer { kill(ana.child.processId, SIGCONT) }
    try ben.joinByKeys(ticket)
    try ben.waitForScreen("Joining")
    try ben.beginTypingAtEnd()
    try ben.session.terminal.type("quick")
    try ben.waitForScreen("quick")
    #expect(try ben.isWaiting())
    try ben.endTyping()
    // When the person gives up, the editor says so, and opens nothing later.
    try ben.giveUpByKeys()
    try ben.waitForScreen("Gave up waiting")
    #expect(try !ben.isWaiting())
    #expect(try ben.documentId() == mine)
  }

  /// Emacs asks "Auto-save? Abort?" when a second C-g arrives before it has handled the first. A process presses each
  /// key, so that they are milliseconds apart; no finger is faster. If the scheduler stops Emacs between the two, the
  /// question appears without a fault of the plugin, so it counts as one only with `NOTES_STRICT_QUITS=1`, for a quiet
  /// machine. The plugin's own tests show that every slice of its work handles the first C-g. Here the flood must do no
  /// harm, with the question or without.
  @Test func twoQuickQuitsInAFloodOfEditsAreQuitsInEmacs() throws {
    let ana = try EmacsUnderTest(user: NotesUser("Ana"), seed: 4, maximumDelay: .zero)
    _ = try ana.evaluate("(setq gc-cons-threshold most-positive-fixnum)")
    try ana.createNote("Flood")
    _ = try ana.waitUntilAttached()
    try ana.share()
    let process = try NotesUser("Ben").startInitialized()
    let joined = try process.request("notes/join", ["ticket": .string(try ana.waitForTicket())])
    let ben = try ModelClient(process, note: joined)
    var questionCount = 0
    for step in 0..<500 {
      ben.edit(0..<0, with: step % 5 == 0 ? "many words at a time\n" : "x")
      ben.flush()
      try process.collect()
      guard step % 5 == 0 else { continue }
      try ana.session.terminal.press("C-g")
      try ana.session.terminal.press("C-g")
      if try ana.declineToAbort() { questionCount += 1 }
    }
    _ = try ana.declineToAbort()
    print("Emacs asked whether to abort \(questionCount) times of 100")
    if ProcessInfo.processInfo.environment["NOTES_STRICT_QUITS"] != nil { #expect(questionCount == 0) }
    try ana.session.wait(for: "all that Ben wrote") { try ana.state()?.text == ben.text.string }
  }
}

/// What these tests need of an editor.
private protocol WaitingEditor: EditorUnderTest {
  func joinByKeys(_ ticket: String) throws
  func showByKeys() throws
  func giveUpByKeys() throws
  func isWaiting() throws -> Bool
  /// The messages so far.
  func messages() throws -> String
}

extension EmacsUnderTest {
  /// Answers Emacs's emergency questions, if it asks them, with no.
  fileprivate func declineToAbort() throws -> Bool {
    guard try session.terminal.screen().contains("Auto-save?") else { return false }
    try session.terminal.type("n\n")
    try waitForScreen("Abort (and dump core)?")
    try session.terminal.type("n\n")
    try session.wait(for: "Emacs to continue") { try !session.terminal.screen().contains("Abort (and dump core)?") }
    return true
  }
}

extension VimUnderTest: WaitingEditor {
  fileprivate func joinByKeys(_ ticket: String) throws {
    try session.terminal.type(":NotesJoin \(ticket)")
    try session.terminal.press("Enter")
  }

  fileprivate func showByKeys() throws {
    try session.terminal.type(":NotesShow")
    try session.terminal.press("Enter")
  }

  fileprivate func giveUpByKeys() throws {
    try session.terminal.type(":NotesGiveUp")
    try session.terminal.press("Enter")
  }

  /// Includes those that Vim shows only when Insert mode ends.
  fileprivate func messages() throws -> String {
    try evaluate(#"notes_lsp#status#Told()->join("\n")"#).stringValue ?? ""
  }
  fileprivate func isWaiting() throws -> Bool { try evaluate("notes_lsp#arrival#IsWaiting()").boolValue ?? false }
}

extension EmacsUnderTest: WaitingEditor {
  private func run(_ command: String) throws {
    try session.terminal.press("M-x")
    try session.terminal.type(command)
    try session.terminal.press("Enter")
  }

  fileprivate func joinByKeys(_ ticket: String) throws {
    try run("notes-join")
    try waitForScreen("Ticket")
    try session.terminal.type(ticket)
    try session.terminal.press("Enter")
  }

  fileprivate func showByKeys() throws { try run("notes-show") }
  fileprivate func giveUpByKeys() throws { try session.terminal.press("C-g") }
  fileprivate func messages() throws -> String {
    try evaluate("(with-current-buffer (messages-buffer) (buffer-string))").stringValue ?? ""
  }
  fileprivate func isWaiting() throws -> Bool { try evaluate("(if (notes-lsp--shown-question) 1 0)").intValue == 1 }
}
