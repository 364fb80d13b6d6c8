/// The mark after a name that may mislead: another peer's name, or a name that only the document states.
enum NameMark {
  /// Shown where there is no room for the mark.
  private static let shortMark = " (?)"
  /// How many columns of a name must be left before its mark.
  private static let minimumWidth = 3

  /// A name that is cut before its mark, so that no length of a name hides it; nil if there is no mark, or no room at all.
  ///
  /// - Parameters:
  ///   - width: the columns of a text
  ///   - cut: cuts a text to a width
  static func cut(
    _ text: String, to width: Int, measuredBy measure: (String) -> Int, _ cut: (String, Int) -> String
  ) -> String? {
    guard let start = start(of: text) else { return nil }
    let name = String(text[..<start])
    for mark in [String(text[start...]), shortMark] where width - measure(mark) >= minimumWidth {
      return cut(name, width - measure(mark)) + mark
    }
    return nil
  }

  /// Where the mark begins: `(k3x9ab)`, `(claimed)`, `(unverified)`, `(claimed, unverified)`.
  private static func start(of text: String) -> String.Index? {
    guard text.hasSuffix(")"), let open = text.lastIndex(of: "("), open > text.startIndex else { return nil }
    let start = text.index(before: open), words = text[text.index(after: open)...].dropLast()
    let isId =
      words.utf8.count == 6 && words.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    guard text[start] == " ", isId || ["claimed", "unverified", "claimed, unverified"].contains(words) else {
      return nil
    }
    return start
  }
}
