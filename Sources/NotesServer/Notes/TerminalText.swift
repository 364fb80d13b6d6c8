import JSONRPC

/// Text of other people on a terminal: titles, names, notes. Characters that would control the terminal or reorder its text are
/// printed as their numbers.
public enum TerminalText {
  /// A title or a name as part of a line. Line breaks in it are never printed as such, not even outside of terminals.
  public static func field(_ text: String, onTerminal: Bool) -> String {
    escaped(text) { onTerminal && OneLine.isHarmful($0) || breaksLine($0) }
  }

  /// A text of several lines.
  public static func text(_ text: String) -> String {
    escaped(text) { OneLine.isHarmful($0) && $0 != "\n" && $0 != "\t" }
  }

  /// One line of JSON, which is read as the same value.
  public static func json(_ value: JSONValue) -> String { json(text: "\(value)") }

  /// JSON that is already text; it is read as the same value. Except for line ends, control characters occur only in
  /// strings, where JSON has its own escapes.
  public static func json(text: String) -> String {
    text.unicodeScalars.map { scalar in
      OneLine.isHarmful(scalar) && scalar != "\n" ? "\\u" + hexadecimal(scalar) : String(Character(scalar))
    }.joined()
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
}
