import AutomergeRepo

/// The text around a place on the same line, as a client shows it.
struct ClientLine {
  /// How much of a line is examined on each side of the place: lines may be as long as a note.
  private static let reach = 2 * (NoteLink.maximumLength + 4)

  /// UTF-8, without the line feed.
  let bytes: [UInt8]
  /// The place's offset in it, in UTF-8.
  let offset: Int
  private let start: Int
  private let text: any TextSource
  private let encoding: PositionEncoding

  /// - Parameter place: clamped to the end of its line and of the text
  /// - Complexity: O(log n)
  init(at place: Position, in text: any TextSource, _ encoding: PositionEncoding) {
    let found = text.utf8Offset(of: place, in: encoding)
    let line = text.measure(utf8Offset: found).newlines
    let lineStart = text.measure(line: line)?.utf8 ?? 0
    let lineEnd = text.measure(line: line + 1).map { $0.utf8 - 1 } ?? text.measure.utf8
    // Both are clamped to whole scalars.
    start = text.measure(utf8Offset: max(lineStart, found - Self.reach)).utf8
    let end = text.measure(utf8Offset: min(lineEnd, found + Self.reach)).utf8
    (bytes, offset) = (text.utf8(start..<end), found - start)
    (self.text, self.encoding) = (text, encoding)
  }

  /// The client's range of a part of `bytes`.
  func range(_ part: Range<Int>) -> PositionRange {
    PositionRange(
      start: text.position(utf8Offset: start + part.lowerBound, in: encoding),
      end: text.position(utf8Offset: start + part.upperBound, in: encoding))
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

  /// - Complexity: O(log n) for a note, O(n) for any other file
  func clientLine(at place: DocumentPosition) -> ClientLine? {
    let text: any TextSource
    switch buffers[place.uri] {
    case .attached(let binding): text = binding.buffer.clientView(of: binding.source)
    case .opening(let opening): text = PlainText(opening.plain.text)
    case .plain(let plain): text = PlainText(plain.text)
    case nil: return nil
    }
    return ClientLine(at: place.position, in: text, client.encoding)
  }
}
