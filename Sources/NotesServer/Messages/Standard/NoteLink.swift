/// A link from one note to another by its title: `[[Title]]`, `[[Title#Heading]]`, `[[Title|words to show]]`.
struct NoteLink: Hashable {
  /// Nothing in a link is longer, in bytes.
  static let maximumLength = 1000

  let title: String
  let heading: String?
  /// The title's range in the line, in UTF-8, without the brackets.
  let part: Range<Int>
  /// The link's range, brackets included.
  let whole: Range<Int>

  private static let opening = Array("[[".utf8), closing = Array("]]".utf8)

  /// All links of a line, in order.
  /// - Complexity: O(n)
  static func all(in line: ArraySlice<UInt8>) -> [NoteLink] {
    var links: [NoteLink] = []
    var start: Int?
    var index = line.startIndex
    while index + 1 < line.endIndex {
      let pair = line[index..<index + 2]
      if pair.elementsEqual(opening) {
        start = index
        index += 2
      } else if pair.elementsEqual(closing), let opened = start {
        if let link = NoteLink(line, opened..<index + 2) { links.append(link) }
        start = nil
        index += 2
      } else {
        index += 1
      }
    }
    return links
  }

  /// Nil if there is no title in it.
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

  /// What is typed of a link that has no end yet: where its title begins, before an offset in the line.
  static func begun(in line: ArraySlice<UInt8>, before offset: Int) -> Int? {
    let typed = line.prefix(offset)
    var index = typed.endIndex
    while index - 2 >= typed.startIndex {
      let pair = typed[index - 2..<index]
      if pair.elementsEqual(opening) { return index - typed.startIndex }
      if pair.elementsEqual(closing) { return nil }
      index -= 1
    }
    return nil
  }

  /// Whether it leads to the note of this title; case makes no difference.
  func leads(to title: String) -> Bool { self.title == title || self.title.lowercased() == title.lowercased() }
}
