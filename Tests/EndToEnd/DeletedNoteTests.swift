import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// The buffer that stays when a note is deleted.
@Suite(.ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct DeletedNoteTests {}

extension DeletedNoteTests {
  @Test(arguments: [VimUnderTest.kind, EmacsUnderTest.kind])
  func theBufferOfADeletedNoteIsNoNoteAfterARestartOfTheService(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    try person.editor.deleteNote()
    try person.editor.session.wait(for: "the deletion") { try person.editor.documentId() == nil }
    person.editor.session.killService()
    try person.editor.session.wait(for: "the next service") { person.editor.session.records.count > 1 }
    // The editor does this after everything that it does when the service is ready.
    try person.editor.createNote("Other")
    _ = try person.editor.waitUntilAttached()
    let files = try FileManager.default.contentsOfDirectory(atPath: person.user.notes).filter { $0.hasSuffix(".md") }
    #expect(files == ["Other.md"])
    try person.editor.give(vim: "buffer Shopping.md", emacs: "(switch-to-buffer \"Shopping.md\")")
    try person.waitForFile("Shopping.md")
    try person.sees(kind == VimUnderTest.kind ? "[not a note: deleted]" : "Not a note[deleted]")
    #expect(try person.editor.documentId() == nil)
  }

  /// Its file had the former title until it was closed. Else the buffer would stay a plain one, modified, and keep Vim open.
  @Test(arguments: [VimUnderTest.kind, EmacsUnderTest.kind])
  func theBufferOfARenamedNoteIsTheNoteAgainWhenThatIsRestored(kind: String) throws {
    let person = try Person(kind)
    try person.makeNote()
    let id = try person.editor.waitUntilAttached()
    try person.type("milk")
    try person.editor.give(vim: "NotesRename Groceries", emacs: "(notes-rename \"Groceries\")")
    try person.sees("Renamed to \"Groceries\"")
    try person.editor.deleteNote()
    try person.editor.session.wait(for: "the deletion") { try person.editor.documentId() == nil }
    try person.editor.give(vim: "NotesUndelete Groceries", emacs: "(notes-undelete \"Groceries\")")
    #expect(try person.editor.waitUntilAttached() == id)
    try person.waitForFile("Shopping.md")
    try person.editor.waitForText("milk")
  }
}
