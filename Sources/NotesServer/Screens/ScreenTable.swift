import JSONRPC

/// A list as lines of aligned columns, for an editor's buffer or a terminal. Both editors and the command line show the same.
struct ScreenTable {
  struct Column {
    /// The smallest width of the column.
    var minimum = 4
    var isNumber = false
    /// The largest width of the column; nil for no limit.
    var maximum: Int?
  }

  /// What an editor needs to act on a line, as members of a JSON object; empty for a heading.
  typealias Members = [(name: StaticString, value: Value)]

  enum Value {
    case text(String)
    case texts([String])
  }

  private struct Line {
    let cells: [String]
    let members: Members
  }

  private static let gap = 2
  private let columns: [Column]
  /// How wide a line may be, in columns of the screen.
  private let width: Int
  private var lines: [Line] = []

  init(_ columns: [Column], width: Int) { (self.columns, self.width) = (columns, max(40, min(width, 400))) }

  var isEmpty: Bool { lines.isEmpty }
  var count: Int { lines.count }

  mutating func add(_ cells: [String], _ members: Members = []) {
    lines.append(Line(cells: cells.map(OneLine.shown), members: members))
  }

  /// A line of text that is not a row of the table.
  mutating func say(_ text: String) { lines.append(Line(cells: [text], members: [])) }

  // MARK: Layout

  /// Column widths by content; the widest shrink until all fit.
  private var widths: [Int] {
    var widths = columns.map { _ in 0 }
    for line in lines where line.cells.count == columns.count {
      for (index, cell) in line.cells.enumerated() { widths[index] = max(widths[index], DisplayWidth.of(cell)) }
    }
    for (index, column) in columns.enumerated() { widths[index] = min(widths[index], column.maximum ?? widths[index]) }
    var excess = widths.reduce(0, +) + Self.gap * (columns.count - 1) - width
    while excess > 0 {
      let shrinkable = columns.indices.filter { widths[$0] > columns[$0].minimum }
      guard let widest = shrinkable.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[widest] -= 1
      excess -= 1
    }
    return widths
  }

  private func text(_ line: Line, _ widths: [Int]) -> String {
    guard line.cells.count == columns.count else {
      return DisplayWidth.cut(line.cells.joined(separator: "  "), to: width)
    }
    var text = ""
    var owed = 0
    for (index, cell) in line.cells.enumerated() where widths[index] > 0 {
      let shown = DisplayWidth.cut(cell, to: widths[index])
      let missing = widths[index] - DisplayWidth.of(shown)
      if columns[index].isNumber { owed += missing }
      // Blanks at the end of a line are not written.
      if !shown.isEmpty {
        text += String(repeating: " ", count: owed) + shown
        owed = 0
      }
      owed += Self.gap + (columns[index].isNumber ? 0 : missing)
    }
    return text
  }

  /// The lines, ready to show.
  var texts: [String] { texts(ofFirst: lines.count) }

  /// The first lines, as wide as they are among all.
  func texts(ofFirst count: Int) -> [String] {
    let widths = widths
    return lines.prefix(count).map { text($0, widths) }
  }

  /// `{lines, rows}`: a row for each line.
  func write(to writer: inout JSONTextWriter) {
    writer.key("lines")
    writer.array { writer in
      for text in texts { writer.string(text) }
    }
    writer.key("rows")
    writer.array { writer in
      for line in lines { write(line, to: &writer) }
    }
  }

  private func write(_ line: Line, to writer: inout JSONTextWriter) {
    writer.object { writer in
      for member in line.members {
        writer.key(member.name)
        switch member.value {
        case .text(let text): writer.string(text)
        case .texts(let texts): writer.array { writer in for text in texts { writer.string(text) } }
        }
      }
    }
  }

  /// The rows of the first lines as JSON, one for each line.
  func encodedRows(ofFirst count: Int) -> [[UInt8]] {
    lines.prefix(count).map { line in
      var writer = JSONTextWriter()
      write(line, to: &writer)
      return writer.bytes
    }
  }
}

/// The answer to a request that asked for lines by sending a `width`.
struct ScreenAnswer: RequestResult {
  let encoded: [UInt8]

  init(_ table: ScreenTable) {
    var writer = JSONTextWriter()
    writer.object { table.write(to: &$0) }
    encoded = writer.bytes
  }

  var json: JSONValue { get throws { try JSONValue(parsing: encoded) } }
}

extension Parameters {
  /// The width of the screen, in columns, if the answer should be lines for it.
  func widthIfPresent() throws(ResponseError) -> Int? { try nonNegativeIntIfPresent("width") }
}
