import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// What becomes of a document that is deleted, or is not.
struct DeletionTests {
  @Test @AutomergeRepo func theHandleOfADeletedDocumentSaysSo() async throws {
    let repo = Repo(storage: InMemoryStorage())
    let handle = try repo.create(try .note("gone"))
    let states = handle.statusUpdates(), messages = handle.ephemeralMessages()
    try await repo.delete(id: handle.id)
    #expect(handle.status.isDeleted)
    var last: DocumentStatus?
    for await state in states { last = state }
    for await _ in messages {}
    #expect(last?.isDeleted == true)
    for await state in handle.statusUpdates() { #expect(state.isDeleted) }
    #expect(try handle.document.content() == "gone")
  }

  @Test @AutomergeRepo func storingADeletedDocumentFails() async throws {
    let repo = Repo(storage: InMemoryStorage())
    let handle = try repo.create(try .note("gone"))
    try await handle.flush()
    try await repo.delete(id: handle.id)
    try handle.splice(0, "not ")
    await #expect(throws: StorageError.deleted) { try await handle.flush() }
    await #expect(throws: StorageError.deleted) { try await handle.store(with: []) }
    #expect(try handle.document.content() == "not gone" && !handle.isStored)
  }

  /// What was changed after the last write began is written no more.
  @Test @AutomergeRepo func aProgramThatWaitsForTheStoreIsToldOfTheDeletion() async throws {
    let store = FaultyStorage(InMemoryStorage())
    let repo = Repo(storage: store)
    let handle = try repo.create(try .note("gone"))
    store.holdSaves(of: handle.id.description)
    async let written: Void = handle.flush()
    while store.heldSaveCount == 0 { await AutomergeRepo.yield() }
    try handle.splice(0, "not ")
    // Each has begun to wait when the next line runs.
    let waiting = Task.immediate { @AutomergeRepo in await failure(of: handle) }
    let deletion = Task.immediate { @AutomergeRepo in try await repo.delete(id: handle.id) }
    store.holdSaves(of: nil)
    try await written
    #expect(await waiting.value == .deleted)
    try await deletion.value
  }

  @AutomergeRepo private func failure(of handle: DocHandle) async -> StorageError? {
    do throws(StorageError) { try await handle.flush() } catch { return error }
    return nil
  }

  @Test(arguments: [false, true]) @AutomergeRepo
  func aDeletionThatFailsLeavesTheDocumentAsItIs(changesMeanwhile: Bool) async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
    let repo = world.start("a"), other = world.start("b")
    world.connectAll()
    let handle = try repo.create(try .note("stays"))
    _ = try #require(try await world.handle(handle.id, at: "b"))
    try await world.flush("a")
    let store = try #require(world.stores["a"])
    var events: [DocumentId] = []
    repo.observe { if case .documentDeleted(let id) = $0 { events.append(id) } }
    handle.observe { if case .deleted = $0 { events.append(handle.id) } }
    try handle.splice(0, "it ")
    store.failSaves(1)
    async let failure = outcome(of: repo, handle.id)
    if changesMeanwhile {
      while repo.handle(of: handle.id) != nil { await AutomergeRepo.yield() }
      try handle.splice(0, "meanwhile ")
    }
    #expect(await failure == .full)
    #expect(repo.handle(of: handle.id) === handle && !handle.status.isDeleted && events.isEmpty)
    // It goes on: with the store, and with the peers.
    try handle.splice(0, "and ")
    try await world.clock.run(until: "stored, and at the peer") {
      handle.isStored && other.handle(of: handle.id)?.document.heads() == handle.document.heads()
    }
    let content = changesMeanwhile ? "and meanwhile it stays" : "and it stays"
    world.crash("a")
    world.start("a")
    #expect(try await world.handle(handle.id, at: "a")?.document.content() == content)
  }

  @Test @AutomergeRepo func aSearchDuringADeletionThatFailsFindsTheDocument() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 2)))
    let repo = world.start("a")
    let handle = try repo.create(try .note("stays"))
    try await world.flush("a")
    try #require(world.stores["a"]).failSaves(1)
    async let failure = outcome(of: repo, handle.id)
    async let second = outcome(of: repo, handle.id)
    while repo.handle(of: handle.id) != nil { await AutomergeRepo.yield() }
    async let search = repo.find(handle.id)
    // The second deletion waits for the first, and succeeds.
    let failures = [await failure, await second]
    #expect(failures.contains(.full) && failures.contains(nil))
    switch await search {
    case .found(let found): #expect(found === handle)
    case .deleted: break
    case let other: Issue.record("\(other)")
    }
    #expect(repo.handle(of: handle.id) == nil)
  }

  @AutomergeRepo
  private func outcome(of repo: Repo, _ id: DocumentId) async -> StorageError? {
    do throws(StorageError) {
      try await repo.delete(id: id)
      return nil
    } catch {
      return error
    }
  }
}
