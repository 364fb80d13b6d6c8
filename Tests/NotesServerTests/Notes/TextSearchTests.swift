import Foundation
import TestSupport
import Testing

@testable import NotesServer

struct TextSearchTests {
  private func match(_ query: String, _ text: String) -> TextSearch.Match? {
    let search = TextSearch(query)
    let bytes = Array(text.utf8)
    return search.found(in: bytes).count == search.count ? search.bestMatch(in: bytes)?.match : nil
  }

  @Test func theFirstLineWithTheWordsIsFoundWhateverTheirCase() {
    #expect(match("TEA", "a\nsome Tea\ntea\n") == TextSearch.Match(line: 1, text: "some Tea"))
    #expect(match("tea", "TEA") == TextSearch.Match(line: 0, text: "TEA"))
    #expect(match("ü", "x\nÜBER\n") == TextSearch.Match(line: 1, text: "ÜBER"))
    #expect(match("teat", "tea\ntteat") == TextSearch.Match(line: 1, text: "tteat"))
    #expect(match("tea", "te\na") == nil)
    #expect(match("tea", "") == nil)
    #expect(match("", "tea") == nil)
    #expect(match("[", "{") == nil, "these differ by the bit that tells cases apart")
  }

  @Test func allWordsAreFoundInAnyOrderAndQuotesMakeAPhrase() {
    let text = "milk\nGreen tea\ntea and Milk\n"
    #expect(match("tea milk", text) == TextSearch.Match(line: 2, text: "tea and Milk"))
    #expect(match("  MILK   tea ", text)?.line == 2)
    #expect(match("milk green", text)?.line == 0, "no line has both, and the first with one is shown")
    #expect(match("tea milk sugar", text) == nil)
    #expect(match("\"green tea\" milk", text)?.line == 0)
    #expect(match("\"tea milk\"", text) == nil)
    #expect(match("\"tea and", text)?.line == 2, "a quote that is never closed ends with the query")
    #expect(match("5\" \"", "a 5\" disk")?.line == 0, "a quote that opens no phrase is a character")
    #expect(TextSearch("tea milk").matches("Milk for the tea"))
    #expect(!TextSearch("tea milk").matches("Milk"))
  }

  @Test(arguments: UInt64(0)..<300) func itFindsWhatASlowSearchFinds(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func text(_ count: Int) -> String {
      String((0..<count).map { _ in ["a", "B", "b", "A", "\n", " "][Int.random(in: 0..<6, using: &random)] }.joined())
    }
    let (text, query) = (
      text(30), text(3).replacingOccurrences(of: "\n", with: "c").trimmingCharacters(in: .whitespaces)
    )
    let line = text.split(separator: "\n", omittingEmptySubsequences: false)
      .firstIndex { $0.lowercased().contains(query.lowercased()) }
    #expect(
      query.isEmpty || match("\"\(query)\"", text)?.line == line,
      "seed \(seed): \(text.debugDescription) in \(query.debugDescription)")
  }

  @Test func headingsAreThoseOfMarkdown() {
    let text = "# One\n#no\n####### seven\n```\n# code\n```\n  # indented\n## Two \n#\n"
    #expect(Headings.all(in: Array(text.utf8)).map(\.title) == ["One", "Two"])
    #expect(Headings.all(in: Array(text.utf8)).map(\.line) == [0, 7])
  }
}
