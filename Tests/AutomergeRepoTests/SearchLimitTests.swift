import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// How long a search lasts when the store does not answer.
struct SearchLimitTests {
  @AutomergeRepo
  private final class Search {
    private(set) var outcome: FindOutcome?
    private(set) var task: Task<Void, Never>?

    init(_ id: DocumentId, in repo: Repo, within limit: Duration) {
      task = Task { [weak self] in
        let outcome = await repo.find(id, within: limit)
        self?.outcome = outcome
      }
    }
  }

  /// In the time of a simulated network.
  private static let limit: Duration = .seconds(1)
  /// Longer than any test.
  private static let longLimit: Duration = .seconds(100_000)

  private func id() throws -> DocumentId { try #require(DocumentId(bytes: Array(1...16))) }

  /// The repo "a" with a stored document that is not in memory.
  @AutomergeRepo
  private func worldWithAStoredDocument() async throws -> (RepoWorld, Repo, FaultyStorage, DocumentId) {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
    let id = try world.start("a").create(try .note("stored")).id
    try await world.flush("a")
    world.crash("a")
    let repo = world.start("a")
    return (world, repo, try #require(world.stores["a"]), id)
  }

  @Test @AutomergeRepo func aSearchEndsInTimeThoughTheStoreDoesNotAnswer() async throws {
    let (world, repo, store, id) = try await worldWithAStoredDocument()
    store.holdLoads()
    let start = world.clock.now, search = Search(id, in: repo, within: Self.limit)
    try await world.clock.run(until: "the search ends") { search.outcome != nil }
    guard case .timedOut? = search.outcome else {
      Issue.record("\(String(describing: search.outcome))")
      return
    }
    #expect(world.clock.now - start == Self.limit)
    // The answer is not lost.
    store.goOnLoading()
    try await world.clock.run(until: "the document is in memory") { repo.handle(of: id) != nil }
    #expect(try repo.handle(of: id)?.document.content() == "stored")
  }

  @Test @AutomergeRepo func aSearchWithoutTimeEndsAtOnce() async throws {
    let store = FaultyStorage(InMemoryStorage())
    store.holdLoads()
    let repo = Repo(storage: store)
    guard case .timedOut = await repo.find(try id(), within: .zero) else {
      Issue.record("not timed out")
      return
    }
    store.goOnLoading()
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 2, longLimit]) @AutomergeRepo
  func aSearchWithoutEndEndsWithItsTask(limit: Duration) async throws {
    let store = FaultyStorage(InMemoryStorage())
    store.holdLoads()
    let repo = Repo(storage: store)
    let search = Search(try id(), in: repo, within: limit)
    // The system's clock has begun to wait by then.
    while store.heldLoadCount == 0 { await Task.yield() }
    for _ in 0..<1000 { await Task.yield() }
    #expect(search.outcome == nil)
    search.task?.cancel()
    await search.task?.value
    guard case .timedOut? = search.outcome else {
      Issue.record("\(String(describing: search.outcome))")
      return
    }
    #expect(repo.entries[try id()]?.isAwaited == false)
    store.goOnLoading()
  }

  @Test @AutomergeRepo func aSearchOfACancelledTaskEndsAtOnce() async throws {
    let store = FaultyStorage(InMemoryStorage())
    store.holdLoads()
    let repo = Repo(storage: store), id = try id()
    let search = Task { await repo.find(id, within: Self.longLimit) }
    search.cancel()
    guard case .timedOut = await search.value else {
      Issue.record("not timed out")
      return
    }
    store.goOnLoading()
  }

  @Test @AutomergeRepo func aSearchEndsWhenTheRepoIsShutDown() async throws {
    let (world, repo, store, id) = try await worldWithAStoredDocument()
    store.holdLoads()
    let search = Search(id, in: repo, within: Self.longLimit)
    try await world.clock.run(until: "the store is asked") { store.heldLoadCount > 0 }
    try await repo.shutDown()
    await search.task?.value
    guard case .stopped? = search.outcome else {
      Issue.record("\(String(describing: search.outcome))")
      return
    }
    await #expect(throws: RepoError.stopped) { try await repo.find(id: id) }
    store.goOnLoading()
  }
}
