import Foundation
import JSONRPC
import NotesServer

/// What commands print. Titles, names and texts come from other people: on a terminal, characters that would control it or
/// reorder its text are printed as their numbers. Pipes and files get the bytes unchanged.
enum Output {
  static let isTerminal = isatty(STDOUT_FILENO) == 1

  /// The width of the terminal in columns; 80 if there is none.
  static var width: Int {
    var size = winsize()
    return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// A title or a name as part of a line: line breaks in it are never printed as such.
  static func field(_ text: String, onTerminal: Bool = isTerminal) -> String {
    TerminalText.field(text, onTerminal: onTerminal)
  }

  /// A text of several lines.
  static func text(_ text: String, onTerminal: Bool = isTerminal) -> String {
    onTerminal ? TerminalText.text(text) : text
  }

  /// One line of JSON.
  static func json(_ value: JSONValue, onTerminal: Bool = isTerminal) -> String {
    onTerminal ? TerminalText.json(value) : "\(value)"
  }

  /// JSON that is already text.
  static func json(text: String, onTerminal: Bool = isTerminal) -> String {
    onTerminal ? TerminalText.json(text: text) : text
  }

  static func print(json value: JSONValue) { Swift.print(json(value)) }

  static func print<Value: Encodable>(json value: Value) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    print(json: try JSONValue(parsing: Array(try encoder.encode(value))))
  }

  /// Fields of a line, separated by two blanks.
  static func print(fields: String?...) {
    Swift.print(fields.compactMap { $0.map { field($0) } }.joined(separator: "  "))
  }

  /// A message to the person that is not part of the result: goes to standard error.
  static func note(_ message: String) {
    let line = field(message, onTerminal: isatty(STDERR_FILENO) == 1)
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}

/// "1 change", "2 changes".
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
