import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Searching, importing, exporting and meetings, with the commands of both editors on real terminals.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorExchangeTests {}

extension EditorExchangeTests {
  @Test func wordsAreFoundAndFilesGoOutAndInFromVim() throws { try exchange(VimUnderTest.self) }
  @Test func wordsAreFoundAndFilesGoOutAndInFromEmacs() throws { try exchange(EmacsUnderTest.self) }

  private func exchange<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let ana = try Editor(user: NotesUser("Ana"), seed: 11, maximumDelay: .zero)
    func read(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map(Array.init) }
    func write(_ words: String) throws {
      try ana.beginTypingAtEnd()
      try ana.session.terminal.type(words)
      try ana.endTyping()
      try ana.waitForText(words)
      _ = try ana.waitUntilAttached()
    }
    try ana.createNote("Groceries")
    let id = try ana.waitUntilAttached()
    try write("a needle, and bread")

    // Export as a document and as text; an existing file is not replaced by mistake.
    let out = ana.session.user.directory.file("out.automerge")
    try ana.perform(.export(out, replacing: false))
    try ana.session.wait(for: "the exported file") { read(out)?.starts(with: [0x85, 0x6F, 0x4A, 0x83]) ?? false }
    let markdown = ana.session.user.directory.file("out.md")
    try "mine\n".write(toFile: markdown, atomically: true, encoding: .utf8)
    try ana.perform(.export(markdown, replacing: false))
    try ana.waitForScreen("exists already")
    #expect(read(markdown) == Array("mine\n".utf8))
    try ana.perform(.export(markdown, replacing: true))
    try ana.session.wait(for: "the replaced file") {
      read(markdown).map { String(decoding: $0, as: UTF8.self).contains("a needle, and bread") } ?? false
    }

    // A copy of the note is edited elsewhere, and imported again.
    let elsewhere = try NotesUser("Eve").startInitialized()
    let copy = try elsewhere.request("notes/import", ["path": .string(out)])
    let client = try ModelClient(elsewhere, note: copy)
    client.edit(0..<0, with: "from elsewhere: ")
    client.flush()
    let changed = ana.session.user.directory.file("changed.automerge")
    try elsewhere.request("notes/export", ["id": copy["id"] ?? .null, "path": .string(changed)])
    // A refusal stays on the screen until the person acts, for example types the next command.
    try ana.beginTypingAtEnd()
    try ana.endTyping()
    if Editor.kind == VimUnderTest.kind {
      // The key that ends Insert mode clears the last line.
      try ana.session.wait(for: "Normal mode") { try ana.evaluate("mode()").stringValue == "n" }
    } else {
      // The key that goes to the end shows a message on the last line.
      try ana.waitForScreen("Mark set")
    }
    try ana.perform(.merge(changed))
    try ana.waitForText("from elsewhere: a needle, and bread")
    try ana.waitForScreen("new change")
    #expect(try ana.waitUntilAttached() == id)

    // A text becomes a note of its own.
    let recipe = ana.session.user.directory.file("Recipe.md")
    try "flour and a needle\n".write(toFile: recipe, atomically: true, encoding: .utf8)
    try ana.perform(.importFile(recipe))
    try ana.waitForText("flour and a needle")
    #expect(try ana.waitUntilAttached() != id)

    // Both notes have the word.
    try ana.perform(.find("needle"))
    try ana.waitForScreen("from elsewhere: a needle, and bread")
    try ana.session.wait(for: "both on one screen") {
      let screen = try ana.session.terminal.screen()
      return screen.contains("Groceries") && screen.contains("Recipe") && screen.contains("flour and a needle")
    }
    try ana.perform(.find("nowhere-to-be-found"))
    try ana.waitForScreen("\"nowhere-to-be-found\"")
    try ana.quit()
    try ana.session.waitForEnd()
    let stored = try ana.session.user.storedText(of: id)
    #expect(stored.contains("from elsewhere: a needle, and bread"), "\(stored)")
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
  }

  @Test func aMeetingIsMadeAndItsAgendaChangedInVim() throws { try meet(VimUnderTest.self) }
  @Test func aMeetingIsMadeAndItsAgendaChangedInEmacs() throws { try meet(EmacsUnderTest.self) }

  private func meet<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    let ana = try Editor(user: NotesUser("Ana"), seed: 12, maximumDelay: .zero)
    let folder = ana.session.user.notes + "/Weekly"
    func waitForFile(_ name: String) throws {
      try ana.session.wait(for: name) { try ana.filePath() == folder + "/" + name }
      _ = try ana.waitUntilAttached()
    }
    func write(_ words: String) throws {
      try ana.beginTypingAtEnd()
      try ana.session.terminal.type(words)
      try ana.endTyping()
      try ana.waitForText(words)
      _ = try ana.waitUntilAttached()
    }
    func shown() throws -> String { try ana.session.user.run(["show", "Weekly"]).output }
    // A new meeting is empty, and the person can open it.
    try ana.perform(.meeting("Weekly"))
    try ana.waitForScreen("No items yet")
    try ana.perform(.addItem("Weekly"))
    try waitForFile("Weekly.md")
    let id = try ana.waitUntilAttached()
    try write("green tea")
    try ana.perform(.addItem("Cake"))
    try waitForFile("Cake.md")
    #expect(try ana.waitUntilAttached() == id, "an item belongs to the meeting")
    try write("apple cake")
    try ana.session.wait(for: "both items") { try shown().contains("green tea") && shown().contains("apple cake") }

    // The open buffer follows the item to its new place.
    try ana.perform(.moveItem(1))
    try ana.waitForScreen("Cake, Weekly")
    try write(" with cream")
    try ana.session.wait(for: "the words in the moved item") {
      try shown().contains("## Cake\n\napple cake with cream")
    }
    try ana.renameNote("Pie")
    try ana.session.wait(for: "the new title") { try shown().contains("## Pie\n") }
    #expect(try shown().contains("apple cake with cream"))
    // The list of items is in the agenda's order, and opens them.
    func choose(_ place: Int) throws {
      let (terminal, isVim) = (ana.session.terminal, ana is VimUnderTest)
      if isVim {
        try terminal.press("Escape")
        try terminal.type(":NotesAgenda")
      } else {
        try terminal.press("M-x")
        try terminal.type("notes-agenda")
      }
      try terminal.press("Enter")
      try ana.waitForScreen("1. Pie")
      #expect(try terminal.screen().contains("2. Weekly"))
      // The line above the items is the meeting itself.
      if isVim { try terminal.type("gg") } else { try terminal.press("M-<") }
      for _ in 0..<place { try terminal.press("Down") }
      try terminal.press("Enter")
    }
    try choose(2)
    try waitForFile("Weekly.md")
    try choose(1)
    try ana.session.wait(for: "the other item") { try ana.state()?.text.contains("apple cake") ?? false }
    _ = try ana.waitUntilAttached()
    try ana.deleteNote()
    try ana.session.wait(for: "one item") { try !shown().contains("Pie") && shown().contains("green tea") }
    try ana.session.wait(for: "a buffer that is no note") { try ana.documentId() == nil }
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
  }
}
