import Foundation
import Testing

/// The documentation's samples are those that are compiled and run.
struct DocumentationTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let catalogue = folder.appendingPathComponent("../../../Sources/Automerge/Automerge.docc")

  private static func pages() throws -> [(name: String, text: String)] {
    try FileManager.default.contentsOfDirectory(atPath: catalogue.path).filter { $0.hasSuffix(".md") }.sorted().map {
      ($0, try String(contentsOf: catalogue.appendingPathComponent($0), encoding: .utf8))
    }
  }

  /// The lines between each `start` and the next `end`, without the indentation of the first.
  private static func blocks(in text: String, from start: String, to end: String) -> [String] {
    var blocks: [String] = [], open: [String]?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      let trimmed = line.trimmingCharacters(in: .whitespaces)
      if let lines = open {
        if trimmed == end {
          let indent = lines.first?.prefix { $0 == " " }.count ?? 0
          blocks.append(lines.map { String($0.dropFirst(indent)) }.joined(separator: "\n"))
          open = nil
        } else {
          open = lines + [line]
        }
      } else if trimmed == start {
        open = []
      }
    }
    return blocks
  }

  @Test func everySampleIsCompiledAndRunAsItStands() throws {
    let source = try String(
      contentsOf: Self.folder.appendingPathComponent("DocumentationSnippets.swift"), encoding: .utf8)
    let snippets = Self.blocks(in: source, from: "// snippet", to: "// end")
    let samples = try Self.pages().flatMap { Self.blocks(in: $0.text, from: "```swift", to: "```") }
    #expect(samples.count >= 15)
    for sample in samples { #expect(snippets.contains(sample), "no test runs this sample:\n\(sample)") }
    for snippet in snippets { #expect(samples.contains(snippet), "no page has this snippet:\n\(snippet)") }
  }

  @Test func everyPageIsLinkedAndEveryLinkHasAPage() throws {
    let pages = try Self.pages()
    let linked = Set(
      pages.flatMap { page in
        page.text.components(separatedBy: "<doc:").dropFirst().compactMap { $0.components(separatedBy: ">").first }
      })
    let names = Set(pages.map { $0.name.replacingOccurrences(of: ".md", with: "") })
    #expect(linked == names.subtracting(["Automerge"]))
    for page in pages { #expect(page.text.hasPrefix("# "), "\(page.name)") }
  }
}
