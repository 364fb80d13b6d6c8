import AutomergeRepo
import AutomergeRepoConformance
import Foundation
import TestSupport
import Testing

/// The provider author's guide: its two samples pass the conformance suite, and its code is the samples' code.
struct ProviderGuideTests {
  @Test func theFolderOfTheGuideIsAStorageProvider() async throws {
    let directory = try TemporaryDirectory()
    let folder = URL(fileURLWithPath: directory.path)
    // guide
    let suite = StorageConformance { place in
      try FolderStorage(at: folder.appendingPathComponent(place))
    }
    try await suite.run()
    // end
    withExtendedLifetime(directory) {}
  }

  @Test func theTwoPipesOfTheGuideAreANetworkProvider() async throws {
    try await TwoPipes.conform()
  }

  @Test func theGuideHasTheCodeOfTheSamples() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let page = folder.appendingPathComponent("../../Sources/Documentation/Providers.md")
    let sections = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n## ")
    func code(in title: String) throws -> [String] {
      let section = try #require(sections.first { $0.hasPrefix(title) }, "the guide has no section \(title)")
      return Self.lines(between: "```swift", and: "```", in: section)
    }
    func source(_ file: String) throws -> String {
      try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
    }
    let every = ""
    #expect(
      try code(in: "A storage provider") == Self.lines(between: every, and: every, in: source("FolderStorage.swift")))
    #expect(
      try code(in: "A network provider") == Self.lines(between: every, and: every, in: source("PipeProvider.swift")))
    #expect(
      try code(in: "The conformance suite")
        == Self.lines(between: "// guide", and: "// end", in: source("ProviderGuideTests.swift"))
        + Self.lines(between: "// guide", and: "// end", in: source("TwoPipes.swift")))
  }

  /// The lines between each `start` and the next `end`, or all lines if these are empty, without indentation and blank lines.
  private static func lines(between start: String, and end: String, in text: String) -> [String] {
    var isInside = start.isEmpty
    var lines: [String] = []
    for line in text.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) where !line.isEmpty {
      if line == start, !isInside {
        isInside = true
      } else if line == end {
        isInside = false
      } else if isInside {
        lines.append(line)
      }
    }
    return lines
  }
}
