import Foundation
import JSONRPC
import NotesHarness
import TestSupport

/// A person who types words into a line of their own, in some editor.
protocol Typist: AnyObject {
  var name: String { get }
  /// The buffer as it is now.
  func text() throws -> String
  func type(_ word: String) throws
  /// Whether all words of this person are stored, and on the server; nil if the editor cannot tell.
  func isStored() throws -> Bool?
}

/// A model of an editor with a real service.
final class ModelTypist: Typist {
  let name: String
  private let client: ModelClient

  init(_ name: String, _ client: ModelClient) { (self.name, self.client) = (name, client) }

  var complaints: [String] { client.complaints }
  var document: String { client.id }

  func text() throws -> String {
    try client.process.collect()
    return client.text.string
  }

  func type(_ word: String) throws {
    try client.process.collect()
    guard let line = client.text.string.range(of: "\(name): ") else {
      throw ProcessError.ended(waitingFor: "the line of \(name)", details: client.text.string)
    }
    let text = client.text.string
    let end = text[line.upperBound...].firstIndex(of: "\n") ?? text.endIndex
    let offset = text.utf8.distance(from: text.startIndex, to: end)
    client.edit(offset..<offset, with: word + " ")
    client.flush()
  }

  func isStored() throws -> Bool? {
    let status = try client.process.request("notes/status", ["uri": .string(client.uri)])
    return status["stored"] == true && status["peers"]?.arrayValue?.contains { $0["inSync"] == true } == true
  }
}

/// A person who types on the keyboard of a real editor, and stays in one line.
final class EditorTypist: Typist {
  let name: String
  let editor: any EditorUnderTest

  /// Goes to the end of the person's line, ready to type.
  init(_ name: String, _ editor: any EditorUnderTest) throws {
    (self.name, self.editor) = (name, editor)
    let terminal = editor.session.terminal
    if editor is EmacsUnderTest {
      _ = try editor.evaluate(
        """
        (with-current-buffer (window-buffer) (goto-char (point-min)) (search-forward "\(name): ") (end-of-line)
          (set-window-point nil (point)) t)
        """)
    } else {
      try terminal.press("Escape")
      try terminal.type("/^\(name): ")
      try terminal.press("Enter")
      try terminal.type("A")
    }
  }

  func text() throws -> String { try editor.state()?.text ?? "" }
  func type(_ word: String) throws { try editor.session.terminal.type(word + " ") }
  func isStored() throws -> Bool? { nil }
}
