import Foundation
import JSONRPC
import TestSupport

/// The state of an editor's current buffer, as the editor reports it.
public struct EditorState: Equatable, Sendable {
  public var text: String
  public var version: Int
  public var rev: Int
  /// Whether the plugin holds back neither local nor remote changes.
  public var isSynced: Bool

  public init?(_ json: JSONValue) {
    guard let text = json["text"]?.stringValue else { return nil }
    self.text = text
    version = json["version"]?.intValue ?? 0
    rev = json["rev"]?.intValue ?? 0
    // Emacs's nil, which is null or an empty object in JSON, stands for false and for an empty list.
    let queued = json["queue"]?.intValue ?? json["queue"]?.arrayValue?.count ?? 0
    let synced = json["synced"]?.boolValue ?? (json["synced"]?.intValue == 1)
    // Vim's copy of what the service knows; Emacs has none.
    let isShadowRight = json["isShadowRight"]?.boolValue ?? true
    isSynced = synced && queued == 0 && isShadowRight
  }
}

/// A real editor with the notes plugin in a terminal, remote-controlled over a loopback connection.
public protocol EditorUnderTest: AnyObject {
  /// Its name, as in `NOTES_FUZZ_PAIRS`.
  static var kind: String { get }
  var session: EditorSession { get }
  init(user: NotesUser, seed: UInt64, maximumDelay: Duration) throws

  /// The values of an expression in the editor's language.
  func evaluate(_ code: String) throws -> JSONValue
  func state() throws -> EditorState?
  func performRandomCommand(_ number: Int) throws
  /// The document id of the current buffer, nil if it is no note.
  func documentId() throws -> String?
  func createNote(_ title: String) throws
  func openNote(_ title: String) throws
  func join(_ ticket: String) throws
  /// Shares the current buffer; the ticket appears in `lastTicket` when the service has answered.
  func share() throws
  func lastTicket() throws -> String?
  func showNotes() throws
  /// The path of the file of the current buffer, nil if it has none.
  func filePath() throws -> String?
  /// Gives a command, without waiting for its effect.
  func perform(_ command: EditorCommand) throws
  /// Runs an ex command or evaluates Lisp, whichever this editor understands, without waiting for its effect.
  func give(vim command: String, emacs lisp: String) throws
  /// The same, between two commands of the person, as if typed; a failure is not shown.
  func type(vim command: String, emacs lisp: String) throws
  /// Makes this the command of the service from its next start on.
  func setServiceCommand(_ change: ([String]) -> [String]) throws
  /// Gives the current note another title.
  func renameNote(_ title: String) throws
  /// Deletes the current note without asking.
  func deleteNote() throws
  /// Restores the deleted note with this title and opens it.
  func undeleteNote(_ title: String) throws
  /// Puts the caret at the end of the buffer, ready to type.
  func beginTypingAtEnd() throws
  func endTyping() throws
  /// Undoes and redoes by the editor's own keys or commands.
  func undo() throws
  func redo() throws
  /// Ends what random commands have left half typed.
  func settle() throws
  /// Asks the editor to end in its regular way, saving nothing.
  func quit() throws
}

extension EditorUnderTest {
  /// Waits until the current buffer is a note and everything is sent and applied.
  public func waitUntilAttached(within duration: Duration = Patience.hang) throws -> String {
    var found: String?
    try session.wait(for: "a note in \(Self.kind)", within: duration) {
      guard let id = try documentId(), let state = try state(), state.isSynced else { return false }
      found = id
      return true
    }
    return found ?? ""
  }

  /// Types at the end of the last line with text.
  public func typeInLastLine(_ words: String) throws {
    if Self.kind == "Emacs" {
      try session.terminal.press("Escape", "Escape", "Escape")
      // No key moves point there: on a busy machine it would come after the other move.
      _ = try evaluate(
        "(with-selected-window (selected-window) (goto-char (point-max)) (when (and (bolp) (not (bobp))) (backward-char)) t)"
      )
    } else {
      try beginTypingAtEnd()
    }
    try session.terminal.type(words)
    try waitForText(words)
    try endTyping()
  }

  public func waitForTicket() throws -> String {
    var found: String?
    try session.wait(for: "a ticket in \(Self.kind)") {
      found = try lastTicket()
      return found != nil
    }
    return found ?? ""
  }

  public func waitForText(_ part: String, within duration: Duration = Patience.hang) throws {
    try session.wait(for: "\(part) in \(Self.kind)", within: duration) {
      try state()?.text.contains(part) ?? false
    }
  }

  public func waitForScreen(_ part: String, within duration: Duration = Patience.hang) throws {
    try session.wait(for: "\(part) on the screen of \(Self.kind)", within: duration) {
      try session.terminal.screen().contains(part)
    }
  }
}
