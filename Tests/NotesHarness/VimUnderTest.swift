import Foundation
import JSONRPC
import TestSupport

/// Vim in a terminal, controlled through one of its own JSON channels.
public final class VimUnderTest: EditorUnderTest {
  public static let kind = "Vim"
  public let session: EditorSession

  public init(user: NotesUser, seed: UInt64, maximumDelay: Duration) throws {
    let plugin = NotesBinary.packageRoot + "/editor-plugins/vim"
    let recordPrefix = user.directory.file("vim")
    let command = JSONValue(
      try EditorSession.serviceCommand(
        user: user, recordPrefix: recordPrefix, seed: seed, maximumDelay: maximumDelay))
    let settings = """
      set nocompatible encoding=utf-8 noswapfile nobackup nowritebackup shortmess+=I nomore hidden ttimeout ttimeoutlen=20
      set runtimepath^=\(plugin)
      let g:notes_lsp_command = \(command)
      let g:notes_lsp_name = '\(user.name)'

      """
    let settingsFile = user.directory.file("vimrc")
    try settings.write(toFile: settingsFile, atomically: true, encoding: .utf8)
    session = try EditorSession(
      user: user, kind: "vim", recordPrefix: recordPrefix,
      command: ["vim", "-N", "-u", settingsFile, "-i", "NONE", "-S", plugin + "/test/control.vim"])
  }

  public func evaluate(_ code: String) throws -> JSONValue { try session.evaluate(code, idSign: -1) }
  private func execute(_ command: String) throws { try session.send(["ex", .string(command)]) }

  public func state() throws -> EditorState? { EditorState(try evaluate("NotesTestState()")) }
  public func performRandomCommand(_ number: Int) throws { _ = try evaluate("NotesTestRandomCommand(\(number))") }

  public func documentId() throws -> String? {
    let id = try evaluate("get(get(b:, 'notes_lsp', {}), 'id', '')").stringValue
    return id.flatMap { $0.isEmpty ? nil : $0 }
  }

  public func createNote(_ title: String) throws { try execute("NotesNew \(title)") }
  public func openNote(_ title: String) throws { try execute("NotesOpen \(title)") }
  public func join(_ ticket: String) throws { try execute("NotesJoin \(ticket)") }
  public func share() throws { try execute("NotesShare") }
  public func renameNote(_ title: String) throws { try execute("NotesRename \(title)") }
  public func deleteNote() throws { try execute("NotesDelete!") }
  public func undeleteNote(_ title: String) throws { try execute("NotesUndelete \(title)") }
  public func filePath() throws -> String? { try evaluate("expand('%:p')").stringValue }
  public func perform(_ command: EditorCommand) throws { try execute(command.vim) }
  public func give(vim command: String, emacs lisp: String) throws { try execute(command) }
  public func setServiceCommand(_ change: ([String]) -> [String]) throws {
    let now = try evaluate("g:notes_lsp_command").arrayValue?.compactMap(\.stringValue) ?? []
    try execute("let g:notes_lsp_command = \(JSONValue(change(now)))")
  }
  public func showNotes() throws { try execute("Notes") }

  public func lastTicket() throws -> String? {
    let register = try evaluate("getreg('\"')").stringValue ?? ""
    return register.hasPrefix("notes-lsp:") ? register.trimmingCharacters(in: .whitespacesAndNewlines) : nil
  }

  public func beginTypingAtEnd() throws {
    try session.terminal.press("Escape", "G")
    try session.terminal.type("A")
  }

  /// Vim holds an Escape back that may begin a longer key, while commands that come over the channel are carried out: what
  /// they say would be taken off the screen when Insert mode ends at last.
  public func endTyping() throws {
    try session.terminal.press("Escape")
    try session.wait(for: "the end of Insert mode") { try evaluate("mode(1)").stringValue == "n" }
  }
  public func undo() throws { try session.terminal.press("u") }
  public func redo() throws { try session.terminal.press("C-r") }
  public func settle() throws { _ = try evaluate("NotesTestSettle()") }
  public func quit() throws { try execute("qall!") }
}
