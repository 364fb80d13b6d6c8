import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// News lines of the service, on real terminals: the editor shows each on one line, and none swallows a key of the
/// person.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorNewsTests {}

extension EditorNewsTests {
  @Test func vimShowsWhatAPeerDidLastOnOneLine() throws { try show(VimUnderTest.self) }

  @Test func emacsShowsWhatAPeerDidLastOnOneLine() throws { try show(EmacsUnderTest.self) }

  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim")) func neovimShowsWhatAPeerDidLastOnOneLine() throws
  {
    try show(NeovimUnderTest.self)
  }

  @Test func vimShowsWhatComesInInsertModeWhenThatEnds() throws { try showAfterTyping(VimUnderTest.self) }

  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim")) func neovimShowsWhatComesInInsertModeWhenThatEnds()
    throws
  {
    try showAfterTyping(NeovimUnderTest.self)
  }

  /// The editor shows its mode on the message line, and clears the line when the mode ends. Problems wait until then,
  /// each until the person has read it; of the news, only the last waits.
  private func showAfterTyping<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (ana, uri, id, gates) = try editor(kind, messages: 4)
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("one")
    try ana.waitForText("one")
    let messages = [
      ("opened", "Ben opened \"Budget\""), ("repeated", "Ben did 40 things"), ("repeated", "Cleo did 50 things"),
      ("closed", "Ben closed \"Budget\""),
    ]
    for (gate, message) in zip(gates, messages) { try send(message.1, uri, id, gate, kind: message.0) }
    let log = Editor.kind == VimUnderTest.kind ? "notes_lsp#status#Told()" : "require('notes_lsp.say').log"
    try ana.session.wait(for: "all messages") {
      try ana.evaluate(log).arrayValue?.contains { $0.stringValue?.contains("Ben closed") == true } == true
    }
    #expect(try ana.session.terminal.screen().contains("-- INSERT --"))

    try ana.endTyping()
    try ana.waitForScreen("Ben did 40 things")
    try ana.session.terminal.type("0")
    try ana.waitForScreen("Cleo did 50 things")
    try ana.session.terminal.type("l")
    try ana.waitForScreen("Ben closed \"Budget\"")
    #expect(try !ana.session.terminal.screen().contains("-- INSERT --"))
    try ana.quit()
    try ana.session.waitForEnd()
  }

  /// The news that the service sends a minute after a peer did more than the screen shows. It has a line, a note and a
  /// peer: here an open note, and a peer that is not connected.
  private func show<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let (ana, uri, id, gates) = try editor(kind)
    try send("Ben lets you edit \"Budget\" (14 changes)", uri, id, gates[0])
    try ana.waitForScreen("Ben lets you edit \"Budget\" (14 changes)")
    try type("one, ", ana)

    // Longer than any line of the service, and with a line feed in it.
    try send("Ben did 40 things\n" + String(repeating: "again and ", count: 40), uri, id, gates[1])
    try ana.waitForScreen("Ben did 40 things")
    try type("two", ana)
    try ana.waitForText("one, two")
    let lines = try ana.session.terminal.screen().split(separator: "\n")
    #expect(lines.count { $0.contains("again and again") } <= 1, "\(lines)")
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try ana.session.user.storedText(of: id).hasPrefix("one, two"))
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
  }

  /// An editor with an open note; each of the files, once it exists, is one more message of its service.
  private func editor<Editor: EditorUnderTest>(_ kind: Editor.Type, messages: Int = 2) throws -> (
    ana: Editor, uri: String, id: String, gates: [String]
  ) {
    let ana = try Editor(user: NotesUser("Ana"), seed: 31, maximumDelay: .zero)
    let gates = (1...messages).map { ana.session.user.directory.file("message-\($0)") }
    let script = """
      exec 3<&0; "$@" <&3 & for gate in \(gates.map { "'\($0)'" }.joined(separator: " ")); do \
      until [ -e "$gate" ]; do sleep 0.05; done; cat "$gate"; done; wait
      """
    try ana.setServiceCommand { ["sh", "-c", script, "sh"] + $0 }
    try ana.createNote("Budget")
    let id = try ana.waitUntilAttached()
    return (ana, "file://" + (try #require(try ana.filePath())), id, gates)
  }

  private func type<Editor: EditorUnderTest>(_ words: String, _ editor: Editor) throws {
    try editor.beginTypingAtEnd()
    try editor.session.terminal.type(words)
    try editor.endTyping()
    try editor.waitForText(words)
    // The editor clears the line of its mode, and with it any message that was just shown there.
    try editor.session.wait(for: "the end of Insert mode on the screen") {
      try !editor.session.terminal.screen().contains("-- INSERT --")
    }
  }

  private func send(_ message: String, _ uri: String, _ id: String, _ gate: String, kind: String = "repeated") throws {
    let event: JSONValue = [
      "kind": .string(kind), "uri": .string(uri), "id": .string(id), "peer": "k3x9ab", "name": "Ben",
      "message": .string(message), "line": .string(message), "level": kind == "repeated" ? "urgent" : "news",
    ]
    let body = (["jsonrpc": "2.0", "method": "notes/event", "params": event] as JSONValue).encoded()
    try Data(Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body).write(
      to: URL(filePath: gate), options: .atomic)
  }
}
