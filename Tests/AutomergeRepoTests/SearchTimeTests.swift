import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// How long a search takes, in the time of a simulated network.
struct SearchTimeTests {
  @AutomergeRepo
  private final class Search {
    private(set) var outcome: FindOutcome?

    init(_ id: DocumentId, in repo: Repo) { Task { outcome = await repo.find(id) } }
  }

  private func id() throws -> DocumentId { try #require(DocumentId(bytes: Array(1...16))) }

  @Test(arguments: 1...20 as ClosedRange<UInt64>) @AutomergeRepo
  func aDocumentThatNoPeerHasIsKnownTwoSecondsAfterTheSearchBegan(seed: UInt64) async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
    let names = ["a", "b", "c", "d"]
    for name in names { world.start(name) }
    // A line, so that the last peer's answer passes through the others; or a full mesh.
    if seed.isMultiple(of: 2) {
      world.connectAll()
    } else {
      for (one, other) in zip(names, names.dropFirst()) { world.connect(one, other) }
    }
    world.clock.advance(by: .seconds(1))
    let repo = try #require(world.repos["a"]), start = world.clock.now
    let search = Search(try id(), in: repo)
    try await world.clock.run(until: "the search ends (seed \(seed))", horizon: .seconds(2)) { search.outcome != nil }
    guard case .unavailable? = search.outcome else {
      Issue.record("seed \(seed): \(String(describing: search.outcome))")
      return
    }
    #expect(world.clock.now - start < .seconds(2))
    #expect(world.repos.values.allSatisfy { $0.handles.isEmpty })
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>) @AutomergeRepo
  func anEmptyDocumentIsFoundByAPeer(seed: UInt64) async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
    let ana = world.start("a")
    world.start("b")
    world.connect("a", "b")
    let hers = try ana.create()
    #expect(hers.doc.keys(obj: .ROOT).isEmpty)
    let his = try #require(try await world.handle(hers.id, at: "b"), "seed \(seed)")
    #expect(his.doc.heads() == hers.doc.heads() && his.doc.heads().count == 1)
    // It is one document: what either writes reaches the other.
    try his.change { try $0.put(obj: .ROOT, key: "x", value: .Int(1)) }
    try await world.clock.run(until: "a has it (seed \(seed))") {
      (try? hers.doc.get(obj: .ROOT, key: "x")) == .Scalar(.Int(1))
    }
    for name in ["a", "b"] { try await world.flush(name) }
    world.crash("b")
    world.start("b")
    #expect(try await world.handle(hers.id, at: "b")?.doc.heads() == hers.doc.heads())
  }
}
