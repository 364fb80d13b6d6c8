import AutomergeRepo
import Foundation
import Testing

@testable import NotesServer

/// A chosen name is stored before the process ends, and the last one stays.
@AutomergeRepo struct NameKeeperTests {
  private let storage = HeldStorage()
  private let keeper: NameKeeper

  init() {
    let repo = Repo(peerId: PeerId("ana"), storage: storage)
    keeper = NameKeeper(PersonName(login: "login"), repo: repo, storage: storage)
  }

  private func storedName() async throws -> String? {
    try await storage.record(at: PersonName.storageKey)?["name"]?.text
  }

  @Test func aNameOfASettingIsStoredBeforeTheProcessEnds() async throws {
    keeper.set("Ana", by: .editor(client: "vim"))
    let settling = Task { @AutomergeRepo in await keeper.settle() }
    await storage.waitForSaves(1)
    #expect(try await storedName() == nil)
    storage.release(1)
    await settling.value
    #expect(try await storedName() == "Ana")
  }

  /// The store may carry out two writes in either order, so the second one begins when the first is done.
  @Test func theLastOfTwoNamesIsTheOneThatStays() async throws {
    keeper.set("Ana", by: .editor(client: "vim"))
    let choosing = Task { @AutomergeRepo in await keeper.choose("Zoe") }
    await storage.waitForSaves(1)
    for _ in 0..<20 { await Task.yield() }
    #expect(storage.waitingCount == 1)
    storage.release(2)
    await choosing.value
    #expect(try await storedName() == "Zoe")
  }
}

/// A store in memory whose writes wait until the test releases them.
@AutomergeRepo
private final class HeldStorage: StorageProvider {
  private let base = InMemoryStorage()
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var released = 0

  var waitingCount: Int { waiting.count }

  /// Releases this many writes, the oldest first.
  func release(_ count: Int) {
    released += count
    while released > 0, !waiting.isEmpty {
      released -= 1
      waiting.removeFirst().resume()
    }
  }

  func waitForSaves(_ count: Int) async {
    while waiting.count < count { await Task.yield() }
  }

  func save(_ key: StorageKey, _ data: Data) async throws(StorageError) {
    if released > 0 { released -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    try await base.save(key, data)
  }

  func load(_ key: StorageKey) async throws(StorageError) -> Data? { try await base.load(key) }
  func remove(_ key: StorageKey) async throws(StorageError) { try await base.remove(key) }
  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] { try await base.loadRange(prefix) }
  func removeRange(_ prefix: StorageKey) async throws(StorageError) { try await base.removeRange(prefix) }
  func children(of prefix: StorageKey) async throws(StorageError) -> [String] { try await base.children(of: prefix) }
  nonisolated var lossCount: Int { 0 }
}
