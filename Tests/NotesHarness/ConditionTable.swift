import Foundation

/// The table of `Sources/Documentation/Conditions.md`: what both editors show of a buffer in each condition.
public struct ConditionTable {
  public struct Row {
    public let condition: String
    public let vim: [String]
    public let emacs: [String]
    public let test: String

    /// What the screen of an editor of this kind has to contain.
    public func texts(in kind: String) -> [String] { kind == VimUnderTest.kind ? vim : emacs }
  }

  public let rows: [Row]

  public init() throws {
    let path = NotesBinary.packageRoot + "/Sources/Documentation/Conditions.md"
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    rows = lines.filter { $0.hasPrefix("| ") }.dropFirst().compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 4 else { return nil }
      return Row(
        condition: cells[0], vim: Self.quoted(cells[1]), emacs: Self.quoted(cells[2]),
        test: Self.quoted(cells[3]).first ?? "")
    }
  }

  public subscript(condition: String) -> Row? { rows.first { $0.condition == condition } }

  /// The parts of a cell between backticks.
  private static func quoted(_ cell: String) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
  }
}
