/// A text as an array of lines, for batches with many changes in no particular order.
struct LineText {
  /// The lines without their line feeds; never empty.
  private var lines: [[UInt8]]

  init(_ text: [UInt8]) { lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init) }

  var bytes: [UInt8] { Array(lines.joined(separator: [0x0A])) }

  /// Returns false, and changes nothing, if the range ends before it starts.
  /// - Complexity: O(n) in the lines, at the speed of moving memory
  mutating func replace(_ range: PositionRange, with new: [UInt8], in encoding: PositionEncoding) -> Bool {
    let (start, end) = (place(range.start, encoding), place(range.end, encoding))
    guard start.line < end.line || start.line == end.line && start.offset <= end.offset else { return false }
    let replaced = lines[start.line][..<start.offset] + new + lines[end.line][end.offset...]
    lines.replaceSubrange(start.line...end.line, with: LineText(Array(replaced)).lines)
    return true
  }

  /// Clamped as LSP prescribes.
  private func place(_ position: Position, _ encoding: PositionEncoding) -> (line: Int, offset: Int) {
    guard position.line >= 0 else { return (0, 0) }
    guard position.line < lines.count else { return (lines.count - 1, lines[lines.count - 1].count) }
    let line = TextPiece(lines[position.line])
    return (position.line, line.measure(encoding.unit, offset: max(0, position.character)).utf8)
  }
}
