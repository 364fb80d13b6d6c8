import Foundation
import JSONRPC
import TestSupport

/// Vim in a terminal, controlled through one of its own JSON channels.
public final class VimUnderTest: VimLikeUnderTest {
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

  public func type(vim command: String, emacs lisp: String) throws {
    _ = try evaluate(#"feedkeys("\<C-\>\<C-n>:silent! \#(command)\<CR>", 't')"#)
  }

  public func documentId() throws -> String? {
    let id = try evaluate("get(get(b:, 'notes_lsp', {}), 'id', '')").stringValue
    return id.flatMap { $0.isEmpty ? nil : $0 }
  }

  public func filePath() throws -> String? { try evaluate("expand('%:p')").stringValue }
  public func setServiceCommand(_ change: ([String]) -> [String]) throws {
    let now = try evaluate("g:notes_lsp_command").arrayValue?.compactMap(\.stringValue) ?? []
    try execute("let g:notes_lsp_command = \(JSONValue(change(now)))")
  }

  public func lastTicket() throws -> String? {
    let register = try evaluate("getreg('\"')").stringValue ?? ""
    return register.hasPrefix("notes-lsp:") ? register.trimmingCharacters(in: .whitespacesAndNewlines) : nil
  }

  /// Vim holds back an Escape that may begin a longer key, but executes commands from the channel meanwhile: the end of
  /// Insert mode would then remove their messages from the screen.
  public func endTyping() throws {
    try session.terminal.press("Escape")
    try session.wait(for: "the end of Insert mode") { try evaluate("mode(1)").stringValue == "n" }
  }
}
