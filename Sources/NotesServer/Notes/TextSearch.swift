import Foundation

/// Searches titles and texts for words: all of them, in any order, ignoring case. Quotes make a phrase.
struct TextSearch: Sendable {
  /// A line that matches.
  struct Match: Hashable, Sendable {
    /// Counted from 0.
    var line: Int
    var text: String
  }

  /// One word or phrase, in lower case.
  private struct Term: Sendable {
    let text: String
    /// Nil if the term is not ASCII and must be compared as Unicode.
    let bytes: [UInt8]?

    init(_ text: String) {
      self.text = text.lowercased()
      bytes = text.utf8.allSatisfy { $0 < 0x80 } ? Array(self.text.utf8) : nil
    }

    func isIn(_ text: ArraySlice<UInt8>) -> Bool {
      guard let bytes else { return String(decoding: text, as: UTF8.self).lowercased().contains(self.text) }
      return TextSearch.contains(bytes, in: text)
    }
  }

  private let terms: [Term]
  private static let maximumLineLength = 200

  init(_ query: String) { terms = Self.terms(of: query).map(Term.init) }

  /// How many terms (words and phrases) the query has.
  var count: Int { terms.count }

  /// Whether the title has all terms.
  func matches(_ title: String) -> Bool { found(inTitle: title).count == terms.count }

  /// The indices of the query's terms that the title has.
  func found(inTitle title: String) -> Set<Int> {
    let title = title.lowercased()
    return Set(terms.indices.filter { title.contains(terms[$0].text) })
  }

  /// The indices of the query's terms that the text has.
  /// - Complexity: O(n × t) in the text's bytes and the query's terms, rarely O(n × m) with the query's bytes.
  func found(in text: [UInt8]) -> Set<Int> { Set(terms.indices.filter { terms[$0].isIn(text[...]) }) }

  /// The first of the lines with the most terms; nil if no line has any.
  /// - Complexity: that of ``found(in:)``
  func bestMatch(in text: [UInt8]) -> (match: Match, count: Int)? {
    var best: (line: Int, bytes: ArraySlice<UInt8>, count: Int)?
    for (line, bytes) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let count = terms.count { $0.isIn(bytes) }
      if count > best?.count ?? 0 { best = (line, bytes.last == 0x0D ? bytes.dropLast() : bytes, count) }
      if count == terms.count { break }
    }
    guard let best else { return nil }
    let text = String(String(decoding: best.bytes, as: UTF8.self).prefix(Self.maximumLineLength))
    return (Match(line: best.line, text: text), best.count)
  }

  /// The query's words and phrases. A quote that is never closed ends with the query.
  private static func terms(of query: String) -> [String] {
    var terms: [String] = []
    var rest = query[...].drop(while: \.isWhitespace)
    while let first = rest.first {
      let isPhrase = first == "\"" && rest.dropFirst().contains { !$0.isWhitespace && $0 != "\"" }
      if isPhrase { rest = rest.dropFirst() }
      let term = rest.prefix { isPhrase ? $0 != "\"" : !$0.isWhitespace }
      if !term.isEmpty { terms.append(String(term)) }
      rest = rest[term.endIndex...].dropFirst(isPhrase ? 1 : 0).drop(while: \.isWhitespace)
    }
    return terms
  }

  private static func contains(_ query: [UInt8], in text: ArraySlice<UInt8>) -> Bool {
    guard let first = query.first, text.count >= query.count else { return false }
    let capital = (0x61...0x7A).contains(first) ? first - 0x20 : first
    var place = text.startIndex
    let last = text.endIndex - query.count
    while place <= last {
      let byte = text[place]
      if byte == first || byte == capital {
        var length = 1
        while length < query.count, lower(text[place + length]) == query[length] { length += 1 }
        if length == query.count { return true }
      }
      place += 1
    }
    return false
  }

  private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
}

/// The Markdown headings of a text, with their lines from 0, except within fenced code.
enum Headings {
  struct Heading {
    let line: Int
    /// How many `#` it has, 1 to 6.
    let level: Int
    let title: String
  }

  /// The most headings that are read of a text.
  static let maximumCount = 10_000
  /// The most bytes that are read of a title.
  private static let maximumLength = 1000

  /// - Complexity: O(n)
  static func all(in text: [UInt8]) -> [Heading] {
    var (headings, isFenced, line, start): ([Heading], Bool, Int, Int) = ([], false, 0, 0)
    while headings.count < maximumCount {
      let end = text[start...].firstIndex(of: 0x0A) ?? text.endIndex
      let bytes = text[start..<end]
      switch bytes.first {
      case UInt8(ascii: "`"), UInt8(ascii: "~"):
        if bytes.count > 2, bytes.prefix(3).allSatisfy({ $0 == bytes[start] }) { isFenced.toggle() }
      case UInt8(ascii: "#") where !isFenced:
        if let (level, title) = heading(bytes) { headings.append(Heading(line: line, level: level, title: title)) }
      default: break
      }
      guard end < text.endIndex else { break }
      (start, line) = (end + 1, line + 1)
    }
    return headings
  }

  private static func heading(_ line: ArraySlice<UInt8>) -> (level: Int, title: String)? {
    let rest = line.drop { $0 == UInt8(ascii: "#") }
    let level = line.count - rest.count
    guard level <= 6, rest.first == 0x20 else { return nil }
    var part = rest.prefix(maximumLength)
    if part.count < rest.count, let last = part.lastIndex(where: { !$0.continuesScalar }) { part = part[..<last] }
    let title = String(decoding: part, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    return title.isEmpty ? nil : (level, title)
  }
}
