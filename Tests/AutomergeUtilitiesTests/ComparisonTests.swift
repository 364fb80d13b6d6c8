import Foundation
import Testing

/// What the comparison with automerge-swift calls the same is named by a program that is compiled.
struct ComparisonTests {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: tests.appending(path: path), encoding: .utf8)
  }

  /// The names in the rows that say “same”, each in the form of `put(obj:key:value:)` or `actor`.
  private static func sameNames() throws -> [String] {
    let page = try text("../Sources/Automerge/Automerge.docc/ComparedWithAutomergeSwift.md")
    return page.split(separator: "\n").flatMap { line -> [String] in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2, cells[1].hasPrefix("same") else { return [] }
      return cells[0].split(separator: "`").filter { $0.first?.isLetter ?? false && !$0.hasPrefix("and ") }.map(
        String.init)
    }
  }

  /// The uses of a name, from its parenthesis on if it has one.
  private static func isUsed(_ name: String, in source: String) -> Bool {
    guard let parenthesis = name.firstIndex(of: "(") else {
      let last = name.split(separator: ".").last.map(String.init) ?? name
      return source.contains(last)
    }
    let base = name[..<parenthesis].split(separator: ".").last.map(String.init) ?? ""
    let labels = name[parenthesis...].dropFirst().dropLast().split(separator: ":").map(String.init)
    return source.components(separatedBy: base + "(").dropFirst().contains { call in
      var rest = call.prefix(400)
      // Default values may be left out, and unnamed arguments have no label to look for.
      for label in labels
      where label != "_" && !["value", "logLevel", "textEncoding", "timestamp", "message"].contains(label) {
        guard let found = rest.range(of: label + ":") else { return false }
        rest = rest[found.upperBound...]
      }
      return true
    }
  }

  @Test func everyRowThatSaysSameIsCompiled() throws {
    let source = try [
      "AutomergeUtilitiesTests/SourceCompatibilityTests.swift", "AutomergeUtilitiesTests/ComingNamesTests.swift",
      "AutomergeTests/PublicNamesTests.swift",
    ].map(Self.text).joined()
    let names = try Self.sameNames()
    #expect(names.count > 120)
    for name in names { #expect(Self.isUsed(name, in: source), "no test compiles \(name)") }
  }
}
