import Automerge

/// The title in a link, and its place in a text.
struct LinkedTitle: Hashable, Sendable {
  /// The most links in one text that are changed: each costs an edit, and peers refuse changes of too many.
  static let maximumCount = 10_000

  /// The range in UTF-8.
  let part: Range<Int>
  /// The same range as the client counts.
  let range: PositionRange

  /// The titles of a text's links to one note, at most one more than `maximumCount`.
  /// - Complexity: O(n)
  static func all(to title: String, in text: [UInt8], _ encoding: PositionEncoding) -> [LinkedTitle] {
    let wanted = title.lowercased()
    var (found, line, start): ([LinkedTitle], Int, Int) = ([], 0, 0)
    while found.count <= maximumCount {
      let end = text[start...].firstIndex(of: 0x0A) ?? text.endIndex
      var (place, character) = (start, 0)
      func position(_ offset: Int) -> Position {
        character += TextMeasure(of: text[place..<offset])[encoding.unit]
        place = offset
        return Position(line: line, character: character)
      }
      NoteLink.forEach(in: text[start..<end]) { link in
        guard link.title == title || link.title.lowercased() == wanted else { return true }
        let part = start + link.part.lowerBound..<start + link.part.upperBound
        let range = PositionRange(start: position(part.lowerBound), end: position(part.upperBound))
        found.append(LinkedTitle(part: part, range: range))
        return found.count <= maximumCount
      }
      guard end < text.endIndex else { break }
      (start, line) = (end + 1, line + 1)
    }
    return found
  }

  /// The same off the loop, because all notes are searched for links.
  @concurrent
  static func allOffLoop(
    to title: String, in text: [UInt8], _ encoding: PositionEncoding
  ) async -> [LinkedTitle] { all(to: title, in: text, encoding) }
}
