import Automerge

/// A place in a buffer as LSP names it: a line from 0, and a column in the units that were negotiated.
struct Position: Hashable, Comparable, Sendable, Codable {
  var line: Int
  var character: Int

  static func < (a: Position, b: Position) -> Bool { (a.line, a.character) < (b.line, b.character) }
}

/// The part of a buffer from one place up to another.
struct PositionRange: Hashable, Sendable, Codable {
  var start: Position
  var end: Position
}

/// The unit of a `Position`'s column. The raw value is the protocol's name for it.
enum PositionEncoding: String, Hashable, Sendable, Codable, CaseIterable {
  case utf8 = "utf-8"
  case utf16 = "utf-16"
  case utf32 = "utf-32"

  var unit: TextUnit {
    switch self {
    case .utf8: .utf8
    case .utf16: .utf16
    case .utf32: .scalars
    }
  }
}

extension TextSource {
  /// The place's UTF-8 offset. Past the end of a line it is the line's end, past the last line the end of the text, and
  /// inside a surrogate pair or a UTF-8 sequence its start.
  func utf8Offset(of position: Position, in encoding: PositionEncoding) -> Int {
    guard position.line >= 0 else { return 0 }
    guard let start = measure(line: position.line) else { return measure.utf8 }
    guard position.character > 0 else { return start.utf8 }
    let unit = encoding.unit
    let lineEnd: TextMeasure
    if let next = position.line < .max ? measure(line: position.line + 1) : nil {
      lineEnd = next - TextMeasure(utf8: 1, scalars: 1, utf16: 1, newlines: 1)
    } else {
      lineEnd = measure
    }
    guard position.character < lineEnd[unit] - start[unit] else { return lineEnd.utf8 }
    return measure(unit, offset: start[unit] + position.character).utf8
  }

  /// The place at a UTF-8 offset, clamped to the text and to the start of a scalar.
  func position(utf8Offset: Int, in encoding: PositionEncoding) -> Position {
    let place = measure(utf8Offset: utf8Offset)
    let start = measure(line: place.newlines) ?? .zero
    return Position(line: place.newlines, character: place[encoding.unit] - start[encoding.unit])
  }
}
