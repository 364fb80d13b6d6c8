/// A link from one note to another by its title: `[[Title]]`, `[[Title#Heading]]`, `[[Title|words to show]]`.
struct NoteLink: Hashable {
  /// The most bytes in a link.
  static let maximumLength = 1000

  let title: String
  let heading: String?
  /// The title's range in the line, in UTF-8, without the brackets.
  let part: Range<Int>
  /// The link's range, brackets included.
  let whole: Range<Int>

  private static let (opening, closing) = (UInt8(ascii: "["), UInt8(ascii: "]"))

  /// All links of a line, in order.
  /// - Complexity: O(n)
  static func all(in line: ArraySlice<UInt8>) -> [NoteLink] {
    var links: [NoteLink] = []
    forEach(in: line) { link in
      links.append(link)
      return true
    }
    return links
  }

  /// Calls `action` with each link of a line, because an array of the links of a long line takes many times its length.
  /// Stops when `action` returns false.
  /// - Complexity: O(n)
  static func forEach(in line: ArraySlice<UInt8>, _ action: (NoteLink) -> Bool) {
    var start: Int?
    var index = line.startIndex
    while index + 1 < line.endIndex {
      let byte = line[index]
      guard byte == opening || byte == closing, line[index + 1] == byte else {
        index += 1
        continue
      }
      if byte == opening {
        start = index
        index += 2
      } else if let opened = start {
        if let link = NoteLink(line, opened..<index + 2), !action(link) { return }
        start = nil
        index += 2
      } else {
        index += 1
      }
    }
  }

  /// Nil if it contains no title.
  private init?(_ line: ArraySlice<UInt8>, _ whole: Range<Int>) {
    let inner = line[whole.lowerBound + 2..<whole.upperBound - 2]
    guard inner.count <= Self.maximumLength else { return nil }
    let target = inner.prefix { $0 != UInt8(ascii: "|") }
    let name = target.prefix { $0 != UInt8(ascii: "#") }
    let blank = UInt8(ascii: " ")
    let front = name.drop { $0 == blank }
    let trimmed = front.prefix(front.count - front.reversed().prefix { $0 == blank }.count)
    guard !trimmed.isEmpty else { return nil }
    title = String(decoding: trimmed, as: UTF8.self)
    let rest = String(decoding: target.dropFirst(name.count + 1), as: UTF8.self)
    heading = rest.isEmpty ? nil : rest
    part = trimmed.startIndex - line.startIndex..<trimmed.endIndex - line.startIndex
    self.whole = whole.lowerBound - line.startIndex..<whole.upperBound - line.startIndex
  }

  /// The start of the title in a link that is being typed and has no end yet, before an offset in the line.
  static func begun(in line: ArraySlice<UInt8>, before offset: Int) -> Int? {
    let typed = line.prefix(offset)
    var index = typed.endIndex
    while index - 2 >= typed.startIndex {
      let byte = typed[index - 1]
      if typed[index - 2] == byte, byte == opening { return index - typed.startIndex }
      if typed[index - 2] == byte, byte == closing { return nil }
      index -= 1
    }
    return nil
  }

  /// Whether a link can name a note of this title. A mark above a `#` does not change what that means in a link.
  static func canName(_ title: String) -> Bool {
    title.utf8.count <= maximumLength && !title.unicodeScalars.contains { "[]|#".unicodeScalars.contains($0) }
      && title.first != " "
      && title.last != " "
  }
}
