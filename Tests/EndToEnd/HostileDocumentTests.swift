import Automerge
import Foundation
import NotesHarness
import TestSupport
import Testing

/// The output of commands on a terminal for a document from a hostile sender.
@Suite(.ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct HostileDocumentTests {
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
}
