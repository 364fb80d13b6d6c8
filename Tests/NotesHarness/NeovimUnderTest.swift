import Foundation
import JSONRPC
import TestSupport

/// Neovim in a terminal, controlled over a connection that its test script makes.
public final class NeovimUnderTest: VimLikeUnderTest {
  public static let kind = "Neovim"
  /// Whether there is a Neovim to test.
  public static let isHere = NotesBinary.find("nvim") != nil
  public let session: EditorSession

  public init(user: NotesUser, seed: UInt64, maximumDelay: Duration) throws {
    let plugin = NotesBinary.packageRoot + "/editor-plugins/neovim"
    let recordPrefix = user.directory.file("neovim")
    let command = try EditorSession.serviceCommand(
      user: user, recordPrefix: recordPrefix, seed: seed, maximumDelay: maximumDelay)
    let settings = """
      vim.opt.runtimepath:prepend(\(JSONValue(plugin)))
      vim.opt.shadafile, vim.opt.backup, vim.opt.writebackup = "NONE", false, false
      vim.g.notes_lsp_command = vim.json.decode([==[\(JSONValue(command))]==])
      vim.g.notes_lsp_name = \(JSONValue(user.name))

      """
    let settingsFile = user.directory.file("init.lua")
    try settings.write(toFile: settingsFile, atomically: true, encoding: .utf8)
    session = try EditorSession(
      user: user, kind: "neovim", recordPrefix: recordPrefix,
      command: ["nvim", "-u", settingsFile, "-S", plugin + "/test/control.lua"])
  }

  public func evaluate(_ code: String) throws -> JSONValue { try session.evaluate(code, idSign: 1) }

  public func type(vim command: String, emacs lisp: String) throws {
    _ = try evaluate(#"vim.api.nvim_input("<C-\\><C-n>:silent! \#(command)<CR>")"#)
  }

  public func documentId() throws -> String? {
    let id = try evaluate("(vim.b.notes_lsp or {}).id").stringValue
    return id.flatMap { $0.isEmpty ? nil : $0 }
  }

  public func filePath() throws -> String? { try evaluate("vim.fn.expand('%:p')").stringValue }
  public func setServiceCommand(_ change: ([String]) -> [String]) throws {
    let now = try evaluate("vim.g.notes_lsp_command").arrayValue?.compactMap(\.stringValue) ?? []
    try execute("let g:notes_lsp_command = \(JSONValue(change(now)))")
  }

  /// The ticket from the register. It is also in a window, which this closes as a person would.
  public func lastTicket() throws -> String? {
    let register = try evaluate("vim.fn.getreg('\"')").stringValue ?? ""
    guard register.hasPrefix("notes-lsp:") else { return nil }
    if try evaluate("vim.b.notes_lsp_view").stringValue == "Notes ticket" { try execute("normal q") }
    return register.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  public func endTyping() throws {
    try session.terminal.press("Escape")
    try session.wait(for: "the end of Insert mode") {
      try evaluate("vim.api.nvim_get_mode().mode").stringValue == "n"
    }
  }
}
