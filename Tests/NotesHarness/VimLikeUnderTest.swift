import JSONRPC
import TestSupport

/// An editor with the commands and keys of Vim, whose test script offers the functions `NotesTest…`.
public protocol VimLikeUnderTest: EditorUnderTest {}

extension VimLikeUnderTest {
  public func execute(_ command: String) throws { try session.send(["ex", .string(command)]) }

  public func state() throws -> EditorState? { EditorState(try evaluate("NotesTestState()")) }
  public func performRandomCommand(_ number: Int) throws { _ = try evaluate("NotesTestRandomCommand(\(number))") }

  public func createNote(_ title: String) throws { try execute("NotesNew \(title)") }
  public func openNote(_ title: String) throws { try execute("NotesOpen \(title)") }
  public func join(_ ticket: String) throws { try execute("NotesJoin \(ticket)") }
  public func share() throws { try execute("NotesShare") }
  public func renameNote(_ title: String) throws { try execute("NotesRename \(title)") }
  public func deleteNote() throws { try execute("NotesDelete!") }
  public func undeleteNote(_ title: String) throws { try execute("NotesUndelete \(title)") }
  public func showNotes() throws { try execute("Notes") }
  public func perform(_ command: EditorCommand) throws { try execute(command.vim) }
  public func give(vim command: String, emacs lisp: String) throws { try execute(command) }

  public func beginTypingAtEnd() throws {
    try session.terminal.press("Escape", "G")
    try session.terminal.type("A")
  }

  public func undo() throws { try session.terminal.press("u") }
  public func redo() throws { try session.terminal.press("C-r") }
  public func settle() throws { _ = try evaluate("NotesTestSettle()") }
  public func quit() throws { try execute("qall!") }
}
