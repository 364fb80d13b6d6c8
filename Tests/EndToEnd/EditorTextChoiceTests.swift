import Automerge
import Foundation
import NotesHarness
import TestSupport
import Testing

/// A document of another program, in which a person chooses the text to edit, on real terminals.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct EditorTextChoiceTests {}

extension EditorTextChoiceTests {
  @Test func vimOffersTheTextsOfADocument() throws {
    try choose(VimUnderTest.self) { terminal in
      try terminal.press("Down")
      try terminal.press("Enter")
    }
  }

  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim")) func neovimOffersTheTextsOfADocument() throws {
    try choose(NeovimUnderTest.self) { terminal in
      try terminal.type("2")
      try terminal.press("Enter")
    }
  }

  @Test func emacsOffersTheTextsOfADocument() throws {
    try choose(EmacsUnderTest.self) { terminal in
      try terminal.type(".chapters.[1].body")
      try terminal.press("Enter")
    }
  }

  private func choose<Editor: EditorUnderTest>(_ kind: Editor.Type, second: (Terminal) throws -> Void) throws {
    let ana = try Editor(user: NotesUser("Ana"), seed: 13, maximumDelay: .zero)
    let file = ana.session.user.directory.file("garden.automerge")
    try garden().save().write(to: URL(filePath: file))
    // The editor asks for the person's name before it asks about the file.
    try ana.createNote("Groceries")
    _ = try ana.waitUntilAttached()
    if Editor.kind == EmacsUnderTest.kind {
      // A prompt would block the connection over which the tests usually give commands.
      try ana.session.terminal.press("M-x")
      try ana.waitForScreen("M-x")
      try ana.session.terminal.type("notes-import")
      try ana.session.terminal.press("Enter")
      try ana.waitForScreen("Import: ")
      try ana.session.terminal.press("C-a", "C-k")
      try ana.session.terminal.type(file)
      try ana.session.terminal.press("Enter")
    } else {
      try ana.perform(.importFile(file))
    }
    try ana.waitForScreen("Text to edit")
    try second(ana.session.terminal)
    try ana.waitForText("Apple and pear")
    let id = try ana.waitUntilAttached()
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type(", and plum")
    try ana.endTyping()
    try ana.waitForText("Apple and pear, and plum")
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try ana.session.user.storedText(of: id).hasPrefix("Apple and pear, and plum"))
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
  }

  /// A document of another shape: chapters, each with a text.
  private func garden() throws -> Document {
    let document = Document()
    try document.put(obj: .ROOT, key: "summary", value: .String("What grows where"))
    let chapters = try document.putObject(obj: .ROOT, key: "chapters", ty: .List)
    for (index, words) in ["Tomatoes in the south bed", "Apple and pear"].enumerated() {
      let chapter = try document.insertObject(obj: chapters, index: UInt64(index), ty: .Map)
      let body = try document.putObject(obj: chapter, key: "body", ty: .Text)
      try document.spliceText(obj: body, start: 0, delete: 0, value: words)
    }
    return document
  }
}
