import Automerge
import AutomergeRepo
import Foundation
import Testing

/// The samples of AutomergeRepo's documentation, each between `// snippet` and `// end` as it stands there. `RepoSnippetsTests`
/// holds the two together.
struct RepoSnippets {
  private func say(_ text: String) {}
  private func show(_ handle: DocHandle) {}
  private func show(_ text: String, of id: DocumentId) {}

  @Test func theLandingPageHolds() async throws {
    // snippet
    let repo = Repo(storage: InMemoryStorage(), sharePolicy: SharePolicy.agreeable)
    let handle = try await repo.create()
    try await handle.change { document in
      try document.put(obj: .ROOT, key: "title", value: .String("Plans"))
    }
    try await repo.flush()
    // end

    #expect(try await repo.documentIds() == [handle.id])
  }

  @Test func findingDocumentsHolds() async throws {
    let repo = Repo(storage: InMemoryStorage(), sharePolicy: SharePolicy.agreeable)
    let handle = try await repo.create()
    try await handle.change { try $0.put(obj: .ROOT, key: "title", value: .String("Plans")) }
    let id = handle.id

    // snippet
    do throws(RepoError) {
      let handle = try await repo.find(id: id)
      show(handle)
    } catch .unavailable {
      say("No peer has it.")
    } catch {
      say("\(error)")
    }
    // end

    // snippet
    for await progress in await repo.findWithProgress(id) {
      for (source, answer) in progress.sources { say("\(source): \(answer)") }
      if let outcome = progress.outcome { say("\(outcome)") }
    }
    // end

    // snippet
    for id in try await repo.documentIds() {
      if let text = try await repo.texts.text(of: id, at: "content") { show(text, of: id) }
    }
    // end

    // snippet
    let url = AutomergeURL(handle.id, heads: handle.doc.heads())
    let again = try await repo.find(url)
    let then = try again.view(heads: url.heads)
    // end

    #expect(again.id == id && then.heads() == handle.doc.heads())

    // snippet
    let copy = try await repo.clone(id: id)
    let bytes = try await repo.export(id: id)
    let imported = try await repo.import(data: bytes)
    // end

    #expect(Set([id, copy.id, imported.id]).count == 3)
    #expect(copy.doc.heads() == handle.doc.heads() && imported.doc.heads() == handle.doc.heads())
  }

  @Test func decidingWhatToShareHolds() async throws {
    // snippet
    let policy = SharePolicy(
      announce: { document, peer in peer.proof == .sameUser },
      access: { document, peer in peer.metadata.isEphemeral ? .read : .write })
    let repo = Repo(sharePolicy: policy)
    // end

    #expect(await repo.connectedPeers.isEmpty)
  }
}

/// The documentation's samples are those that are compiled and run.
struct RepoSnippetsTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let catalogue = folder.appendingPathComponent("../../../../Sources/AutomergeRepo/AutomergeRepo.docc")

  private func blocks(of url: URL, from start: String, to end: String) throws -> [String] {
    let text = try String(contentsOf: url, encoding: .utf8)
    return text.components(separatedBy: start + "\n").dropFirst().compactMap { part in
      let lines = part.components(separatedBy: "\n").prefix { $0.trimmingCharacters(in: .whitespaces) != end }
      let indent = lines.first?.prefix { $0 == " " }.count ?? 0
      return lines.map { String($0.dropFirst(indent)) }.joined(separator: "\n")
    }
  }

  @Test func everySampleIsCompiledAndRunAsItStands() throws {
    let snippets = try blocks(
      of: Self.folder.appendingPathComponent("RepoSnippets.swift"), from: "    // snippet", to: "// end")
    let pages = try FileManager.default.contentsOfDirectory(atPath: Self.catalogue.path).filter { $0.hasSuffix(".md") }
    // `ChatTests` has the tutorial's.
    let samples = try pages.filter { $0 != "ChatTutorial.md" }.sorted().flatMap {
      try blocks(of: Self.catalogue.appendingPathComponent($0), from: "```swift", to: "```")
    }
    #expect(samples.count >= 6)
    for sample in samples { #expect(snippets.contains(sample), "no test runs this sample:\n\(sample)") }
    for snippet in snippets { #expect(samples.contains(snippet), "no page has this snippet:\n\(snippet)") }
  }
}
