import AutomergeRepo

/// What a person types behind a command that shares a note: `read uses=3 days=7`.
struct ShareOptions {
  private(set) var access: Access?
  private(set) var uses: Int?
  private(set) var expiresIn: Duration?

  /// In seconds.
  private static let units = ["hours": 3600, "days": 86400]
  private static let maximumNumber = 1_000_000

  init(_ text: String) throws(NotesError) {
    for word in text.split(whereSeparator: \.isWhitespace) {
      let parts = word.split(separator: "=", maxSplits: 1)
      let number = parts.count == 2 ? Int(parts[1]).flatMap { (1...Self.maximumNumber).contains($0) ? $0 : nil } : nil
      if word == "read" {
        access = .read
      } else if let number, parts[0] == "uses" {
        uses = number
      } else if let number, let unit = Self.units[String(parts[0])] {
        expiresIn = .seconds(number * unit)
      } else {
        let shown = OneLine.shown(NoteNews.cut(String(word), to: 12))
        if parts.count == 2, parts[0] == "uses" || Self.units[String(parts[0])] != nil {
          throw NotesError(.refused, "\"\(shown)\" needs a number from 1 to \(Self.maximumNumber)")
        }
        throw NotesError(.refused, "\"\(shown)\" is not an option; use read uses=3 days=7")
      }
    }
  }
}
