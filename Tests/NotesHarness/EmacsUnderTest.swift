import Foundation
import JSONRPC
import TestSupport

/// Emacs in a terminal, controlled by lines of JSON.
public final class EmacsUnderTest: EditorUnderTest {
  public static let kind = "Emacs"
  public let session: EditorSession

  public init(user: NotesUser, seed: UInt64, maximumDelay: Duration) throws {
    let plugin = NotesBinary.packageRoot + "/editor-plugins/emacs"
    let recordPrefix = user.directory.file("emacs")
    let command = try EditorSession.serviceCommand(
      user: user, recordPrefix: recordPrefix, seed: seed, maximumDelay: maximumDelay)
    let settings = """
      (setq inhibit-startup-screen t make-backup-files nil auto-save-default nil create-lockfiles nil)
      (setq ring-bell-function #'ignore confirm-kill-processes nil)
      (add-to-list 'load-path \(Self.quoted(plugin)))
      (require 'notes-lsp)
      (setq notes-lsp-command '(\(command.map(Self.quoted).joined(separator: " "))))
      (setq notes-lsp-name \(Self.quoted(user.name)))
      (load \(Self.quoted(plugin + "/test/control.el")))

      """
    let settingsFile = user.directory.file("init.el")
    try settings.write(toFile: settingsFile, atomically: true, encoding: .utf8)
    // Emacs reads this before it sets up the terminal, whose library it would otherwise compile to machine code at every
    // start. It keeps what it compiles for advice of a primitive, which takes a second, as in a person's home.
    let early = """
      (setq native-comp-deferred-compilation nil native-comp-jit-compilation nil)
      (when (boundp 'native-comp-eln-load-path)
        (setcar native-comp-eln-load-path \(Self.quoted(NotesBinary.packageRoot + "/.build/emacs-cache/"))))

      """
    try FileManager.default.createDirectory(
      atPath: user.directory.file(".emacs.d"), withIntermediateDirectories: true)
    try early.write(toFile: user.directory.file(".emacs.d/early-init.el"), atomically: true, encoding: .utf8)
    session = try EditorSession(
      user: user, kind: "emacs", recordPrefix: recordPrefix,
      command: ["emacs", "-nw", "--no-site-file", "--no-site-lisp", "--no-splash", "-l", settingsFile])
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"") + "\""
  }

  public func evaluate(_ code: String) throws -> JSONValue {
    let value = try session.evaluate(code, idSign: 1)
    if let problem = value["error"]?.stringValue {
      throw ProcessError.ended(waitingFor: code, details: problem)
    }
    return value
  }

  public func state() throws -> EditorState? { EditorState(try evaluate("(notes-test-state)")) }
  public func performRandomCommand(_ number: Int) throws { _ = try evaluate("(notes-test-random-command \(number))") }

  public func documentId() throws -> String? {
    try evaluate("(with-current-buffer (window-buffer) (plist-get (notes-lsp-buffer-info) :id))").stringValue
  }

  public func createNote(_ title: String) throws { _ = try evaluate("(progn (notes-new \(Self.quoted(title))) t)") }
  public func openNote(_ title: String) throws { _ = try evaluate("(progn (notes-open \(Self.quoted(title))) t)") }
  public func join(_ ticket: String) throws { _ = try evaluate("(progn (notes-join \(Self.quoted(ticket))) t)") }
  public func share() throws {
    _ = try evaluate("(with-current-buffer (window-buffer) (call-interactively #'notes-share) t)")
  }
  public func renameNote(_ title: String) throws { _ = try evaluate("(progn (notes-rename \(Self.quoted(title))) t)") }
  public func deleteNote() throws { _ = try evaluate("(progn (notes-delete t) t)") }
  public func undeleteNote(_ title: String) throws {
    _ = try evaluate("(progn (notes-undelete \(Self.quoted(title))) t)")
  }
  public func filePath() throws -> String? {
    try evaluate("(buffer-file-name (window-buffer))").stringValue
  }

  /// A command that fails shows why, as it does where a person gives it.
  public func perform(_ command: EditorCommand) throws { try give(vim: "", emacs: command.lisp(Self.quoted)) }

  public func give(vim command: String, emacs lisp: String) throws {
    _ = try evaluate(
      """
      (with-current-buffer (window-buffer)
        (condition-case problem \(lisp)
          (error (message "%s" (error-message-string problem))))
        t)
      """)
  }

  public func type(vim command: String, emacs lisp: String) throws { try give(vim: command, emacs: lisp) }

  public func setServiceCommand(_ change: ([String]) -> [String]) throws {
    let now = try evaluate("(vconcat notes-lsp-command)").arrayValue?.compactMap(\.stringValue) ?? []
    _ = try evaluate("(progn (setq notes-lsp-command '(\(change(now).map(Self.quoted).joined(separator: " ")))) t)")
  }

  public func showNotes() throws { _ = try evaluate("(progn (call-interactively #'notes) t)") }

  public func lastTicket() throws -> String? {
    let killed = try evaluate("(if kill-ring (substring-no-properties (car kill-ring)) \"\")").stringValue ?? ""
    return killed.hasPrefix("notes-lsp:") ? killed.trimmingCharacters(in: .whitespacesAndNewlines) : nil
  }

  public func beginTypingAtEnd() throws {
    try session.terminal.press("Escape", "Escape", "Escape")
    try session.terminal.press("M->")
  }

  public func endTyping() throws {}
  public func undo() throws { try session.terminal.press("C-_") }
  public func redo() throws { try session.terminal.press("Escape", "C-_") }
  public func settle() throws {
    try session.wait(for: "the end of the keys") { try evaluate("(length unread-command-events)") == 0 }
  }
  public func quit() throws { try session.send(["expr", "(kill-emacs)", 0]) }
}
