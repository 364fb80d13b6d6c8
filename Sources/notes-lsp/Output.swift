import Foundation
import JSONRPC

/// What commands print. Titles, names and texts come from other people: on a terminal, characters that would control it or
/// reorder its text are printed as their numbers. Pipes and files get the bytes unchanged.
enum Output {
  static let isTerminal = isatty(STDOUT_FILENO) == 1

  /// A title or a name as part of a line: line breaks in it are never printed as such.
  static func field(_ text: String, onTerminal: Bool = isTerminal) -> String {
    escaped(text) { onTerminal && acts($0) || breaksLine($0) }
  }

  /// A text of several lines.
  static func text(_ text: String, onTerminal: Bool = isTerminal) -> String {
    onTerminal ? escaped(text) { acts($0) && $0 != "\n" && $0 != "\t" } : text
  }

  /// One line of JSON. Control characters occur in strings only, where JSON has its own escapes.
  static func json(_ value: JSONValue, onTerminal: Bool = isTerminal) -> String {
    let line = "\(value)"
    guard onTerminal else { return line }
    return line.unicodeScalars.map { scalar in
      acts(scalar) ? "\\u" + hexadecimal(scalar) : String(Character(scalar))
    }.joined()
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

  private static func escaped(_ text: String, _ isEscaped: (Unicode.Scalar) -> Bool) -> String {
    guard text.unicodeScalars.contains(where: isEscaped) else { return text }
    return text.unicodeScalars.map { isEscaped($0) ? "<U+\(hexadecimal($0))>" : String(Character($0)) }.joined()
  }

  private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
    default: false
    }
  }

  /// Controls, line and paragraph separators, and what changes the direction of writing.
  private static func acts(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

/// "1 change", "2 changes".
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
