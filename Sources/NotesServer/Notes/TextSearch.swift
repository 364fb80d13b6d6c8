import Foundation

/// Looks for some words in texts, whatever their case.
struct TextSearch: Sendable {
  /// A line with what was looked for.
  struct Match: Hashable, Sendable {
    /// From 0.
    var line: Int
    var text: String
  }

  private let query: String
  /// In lower case; nil if the query is not ASCII and has to be compared as Unicode.
  private let bytes: [UInt8]?
  private static let longestLine = 200

  init(_ query: String) {
    self.query = query.lowercased()
    bytes = query.utf8.allSatisfy { $0 < 0x80 } ? Array(self.query.utf8) : nil
  }

  func matches(_ title: String) -> Bool { query.isEmpty || title.lowercased().contains(query) }

  /// The first line with the words; nil if there is none.
  /// - Complexity: O(n) in the text's bytes, rarely O(n × m) with those of the query.
  func firstMatch(in text: [UInt8]) -> Match? {
    guard !query.isEmpty else { return nil }
    guard let bytes else { return firstUnicodeMatch(in: text) }
    guard let place = Self.find(bytes, in: text) else { return nil }
    let start = text[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    let end = text[place...].firstIndex(of: 0x0A) ?? text.count
    let line = text[..<start].count { $0 == 0x0A }
    return Match(line: line, text: String(String(decoding: text[start..<end], as: UTF8.self).prefix(Self.longestLine)))
  }

  private func firstUnicodeMatch(in text: [UInt8]) -> Match? {
    for (line, bytes) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let string = String(decoding: bytes, as: UTF8.self)
      if string.lowercased().contains(query) { return Match(line: line, text: String(string.prefix(Self.longestLine))) }
    }
    return nil
  }

  private static func find(_ query: [UInt8], in text: [UInt8]) -> Int? {
    guard let first = query.first, text.count >= query.count else { return nil }
    let capital = (0x61...0x7A).contains(first) ? first - 0x20 : first
    var place = 0
    let last = text.count - query.count
    while place <= last {
      let byte = text[place]
      if byte == first || byte == capital {
        var length = 1
        while length < query.count, lower(text[place + length]) == query[length] { length += 1 }
        if length == query.count { return place }
      }
      place += 1
    }
    return nil
  }

  private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
}

/// The Markdown headings of a text, with their lines from 0. What stands between fences is no heading.
enum Headings {
  static func all(in text: [UInt8]) -> [(line: Int, title: String)] {
    var (headings, isFenced): ([(line: Int, title: String)], Bool) = ([], false)
    for (line, bytes) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      if bytes.starts(with: Array("```".utf8)) || bytes.starts(with: Array("~~~".utf8)) { isFenced.toggle() }
      guard !isFenced, bytes.first == UInt8(ascii: "#") else { continue }
      let rest = bytes.drop { $0 == UInt8(ascii: "#") }
      guard bytes.count - rest.count <= 6, rest.first == 0x20 else { continue }
      let title = String(decoding: rest, as: UTF8.self).trimmingCharacters(in: .whitespaces)
      if !title.isEmpty { headings.append((line, title)) }
    }
    return headings
  }
}
