import Automerge
import Foundation
import NotesHarness
import TestSupport
import Testing

/// The output of commands on a terminal for a document from a hostile sender.
@Suite(.ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct HostileDocumentTests {}

extension HostileDocumentTests {
  /// The output of a command for a document on a terminal, without line feeds.
  private func shown(_ document: Document, _ command: [String]) throws -> String {
    let user = try NotesUser("Ana")
    let path = user.directory.file("letter.automerge")
    try document.save().write(to: URL(filePath: path))
    let terminal = try Terminal(
      in: user.directory, name: "terminal",
      command: ["sh", "-c", "\"$@\"; echo [ended]; exec cat", "sh", try #require(NotesBinary.path)] + command + [path],
      environment: [:])
    var screen = ""
    try NotesProcess.wait(for: "the end", of: []) {
      screen = try terminal.screen()
      return screen.contains("[ended]")
    }
    return screen.replacing("\n", with: "")
  }

  @Test func keysAndTextsActOnNoTerminal() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "k\u{202e}\u{9b}2J", value: .String("\u{1b}]52;c;ZXZpbA==\u{7}"))
    let screen = try shown(document, ["dump", "--no-changes", "--compact"])
    #expect(screen.contains("k\\u202e\\u009b2J"), "\(screen)")
    #expect(screen.contains("ZXZpbA=="), "\(screen)")
  }

  @Test func vimReadsAFileWithANulAgainAndNoLineDoubles() throws { try readNul(VimUnderTest.self) }
  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func neovimReadsAFileWithANulAgainAndNoLineDoubles() throws { try readNul(NeovimUnderTest.self) }

  /// A peer puts a NUL into a note, which no buffer of Vim can send.
  private func readNul<Editor: VimLikeUnderTest>(_ kind: Editor.Type) throws {
    let user = try NotesUser("Ana")
    let other = try user.startInitialized()
    let note = try other.request("notes/create", ["title": "Tea", "text": "head\n"])
    let id = try #require(note["id"]?.stringValue)
    let path = try #require(note["path"]?.stringValue)
    let client = try ModelClient(other, note: note)
    client.edit(5..<5, with: "a\u{0}b\n")
    client.flush()
    try ModelClient.waitForConvergence([client])
    other.notify("textDocument/didClose", ["textDocument": ["uri": .string(client.uri)]])
    try other.waitFor("the file") { try String(contentsOfFile: path, encoding: .utf8) == "head\na\u{0}b\n" }
    try other.shutdown()
    for round in 0..<2 {
      let editor = try Editor(user: user, seed: UInt64(round), maximumDelay: .zero)
      try editor.give(vim: "edit \(path)", emacs: "")
      #expect(try editor.waitUntilAttached() == id)
      let text = "head\na\u{fffd}b" + (round == 0 ? "" : "0")
      try editor.waitForText(text)
      for command in ["edit!", "bdelete! | edit \(path)"] {
        #expect(try editor.waitUntilAttached() == id)
        let version = try #require(try editor.state()).version
        try editor.give(vim: command, emacs: "")
        try editor.session.wait(for: "the text after \(command)") {
          guard let state = try editor.state() else { return false }
          return state.version > version && state.isSynced && state.text == text + "\n"
        }
      }
      try editor.beginTypingAtEnd()
      try editor.session.terminal.type("\(round)")
      try editor.endTyping()
      try editor.waitForText("\(text)\(round)\n")
      #expect(try editor.waitUntilAttached() == id)
      try editor.quit()
      try editor.session.waitForEnd()
    }
    #expect(try user.storedText(of: id) == "head\na\u{fffd}b01\n")
  }
}
