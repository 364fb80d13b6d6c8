import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// Files of MeetingNotes in real editors: the file gets what the person types, and the screen shows what another
/// program saves.
@Suite(.serialized, .ownThreads, .enabled(if: Requirements.editors, Requirements.editorsComment))
struct MeetingFileTests {}

extension MeetingFileTests {
  @Test func aMeetingNotesFileIsEditedInPlaceInVim() throws { try edit(VimUnderTest.self) }
  @Test func aMeetingNotesFileIsEditedInPlaceInEmacs() throws { try edit(EmacsUnderTest.self) }

  @Test(.enabled(if: NeovimUnderTest.isHere, "SKIPPED: needs nvim"))
  func aMeetingNotesFileIsEditedInPlaceInNeovim() throws { try edit(NeovimUnderTest.self) }

  private func edit<Editor: EditorUnderTest>(_ kind: Editor.Type) throws {
    // Another program opens the file.
    let eve = try NotesUser("Eve")
    let other = try eve.startInitialized()
    let path = eve.directory.file("weekly.meetingnotes")
    let made = try other.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    let id = try #require(made["id"])
    func save() throws { try other.request("notes/export", ["id": id, "path": .string(path), "replace": true]) }
    func add(_ title: String) throws {
      try other.request("notes/addItem", ["id": id, "title": .string(title), "text": .string(title + "\n")])
      try save()
    }
    try add("Tea")

    let ana = try Editor(user: NotesUser("Ana"), seed: 13, maximumDelay: .zero)
    try ana.give(vim: "edit " + path, emacs: "(find-file \"\(path)\")")
    try ana.waitForScreen("1. Tea")
    try ana.session.terminal.press("Down", "Enter")
    try ana.session.wait(for: "the item") { try ana.filePath() == ana.session.user.notes + "/Weekly/Tea.md" }
    #expect(try ana.waitUntilAttached() == id.stringValue)
    try ana.beginTypingAtEnd()
    try ana.session.terminal.type("hot and green")
    try ana.endTyping()
    try ana.session.wait(for: "the words in the file") {
      try other.request("notes/import", ["path": .string(path)])
      return try eve.run(["show", "Weekly"]).output.contains("hot and green")
    }
    // An agenda that was hidden meanwhile is shown again as it is now.
    try ana.give(vim: "only", emacs: "(delete-other-windows)")
    try ana.give(vim: "NotesItem Scones", emacs: "(notes-item \"Scones\")")
    try ana.session.wait(for: "the item") { try ana.filePath() == ana.session.user.notes + "/Weekly/Scones.md" }
    try ana.give(vim: "hide buffer weekly.meetingnotes", emacs: "(switch-to-buffer \"weekly.meetingnotes\")")
    try ana.waitForScreen(". Scones")
    try add("Cake")
    try ana.give(vim: "NotesAgenda", emacs: "(notes-agenda)")
    try ana.waitForScreen(". Cake")
    try ana.waitForScreen("new by Eve")
    // The agenda's window is as good a place to share the meeting as its items.
    try ana.give(vim: "NotesShare", emacs: "(with-current-buffer (window-buffer) (notes-share))")
    try ana.waitForScreen("Anyone with this ticket")
    try ana.give(vim: "NotesTicket", emacs: "(delete-other-windows)")
    try ana.quit()
    try ana.session.waitForEnd()
    #expect(try ana.session.audits().flatMap(\.complaints) == [])
    try other.request("notes/import", ["path": .string(path)])
    #expect(try eve.run(["show", "Weekly"]).output.contains("hot and green"))
  }
}
