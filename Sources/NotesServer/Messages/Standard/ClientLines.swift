import Automerge
import AutomergeRepo

/// A text by lines, for requests about a position.
struct ClientLines {
  /// UTF-8, without line feeds; never empty.
  let lines: [ArraySlice<UInt8>]
  private let encoding: PositionEncoding

  init(_ text: [UInt8], _ encoding: PositionEncoding) {
    lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
    self.encoding = encoding
  }

  /// The line of a place, and the place's offset in it in UTF-8; past the end of either means its end.
  func place(_ position: Position) -> (line: Int, offset: Int) {
    let line = min(max(0, position.line), lines.count - 1)
    return (line, TextPiece(Array(lines[line])).measure(encoding.unit, offset: max(0, position.character)).utf8)
  }

  /// The part of a line between two offsets in UTF-8.
  func range(inLine line: Int, _ part: Range<Int>) -> PositionRange {
    let bytes = lines[line]
    func position(_ offset: Int) -> Position {
      Position(line: line, character: TextPiece(Array(bytes.prefix(offset))).measure[encoding.unit])
    }
    return PositionRange(start: position(part.lowerBound), end: position(part.upperBound))
  }
}

extension Editor {
  /// The text that the client shows of a file; nil if it has not opened the file.
  func clientText(of uri: String) -> [UInt8]? {
    switch buffers[uri] {
    case .attached(let binding): binding.clientText
    case .opening(let opening): opening.plain.text
    case .plain(let plain): plain.text
    case nil: nil
    }
  }

  func clientLines(of uri: String) -> ClientLines? { clientText(of: uri).map { ClientLines($0, client.encoding) } }
}
