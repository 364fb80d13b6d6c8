import Automerge
import Foundation
import RepoTestSupport
import Synchronization
import TestSupport
import Testing

@testable import AutomergeRepo

/// The texts that a store keeps beside the chunks.
@AutomergeRepo struct StoredTextsTests {
  private let disk = WatchedStorage()

  private func repo() -> Repo { Repo(storage: disk) }

  /// A text that does not compress to less than the history that is worth it.
  private static func words(_ random: inout SeededGenerator) -> String {
    String(
      (0..<StoredTexts.minimumByteCount * 2).map { _ in "0123456789abcdef\n".randomElement(using: &random) ?? " " })
  }

  /// A document with a long history, in the store.
  private func made(_ random: inout SeededGenerator) async throws -> (id: DocumentId, text: String) {
    let text = Self.words(&random), writer = repo()
    let handle = try writer.create(Document.note(text))
    try await writer.shutDown(waitingForPeers: .zero)
    return (handle.id, text)
  }

  private func read(_ id: DocumentId) async throws -> (text: String?, hasReadChunks: Bool) {
    disk.chunkReads.withLock { $0 = 0 }
    let text = try await repo().texts.text(of: id, at: "content")
    return (text, disk.chunkReads.withLock { $0 } > 0)
  }

  @Test func aTextIsReadWithoutItsHistory() async throws {
    var random = SeededGenerator(seed: 21)
    let (id, text) = try await made(&random)
    #expect(try await read(id) == (text, false))
    #expect(try await repo().texts.text(of: id, at: "other") == nil)
  }

  @Test func aTextThatIsOlderThanTheHistoryIsNotUsed() async throws {
    var random = SeededGenerator(seed: 22)
    let (id, text) = try await made(&random)
    // Ended without keeping its text.
    let writer = repo()
    let handle = try await writer.find(id: id)
    try handle.splice(0, "new ")
    try await writer.flush()
    #expect(try await read(id) == ("new " + text, true))
    #expect(try await read(id) == ("new " + text, false), "kept by the first reader")
    let second = repo()
    _ = try await second.find(id: id)
    #expect(try await second.texts.text(of: id, at: "content") == "new " + text, "in memory")
  }

  @Test func aReleasedDocumentLeavesItsText() async throws {
    var random = SeededGenerator(seed: 23)
    let (id, text) = try await made(&random)
    let writer = repo()
    try await { @AutomergeRepo in try await writer.find(id: id).splice(0, "new ") }()
    try await writer.flush()
    let old = disk.row(StoredTexts.key(id))
    #expect(writer.release(id))
    while disk.row(StoredTexts.key(id)) == old { await Task.yield() }
    #expect(try await read(id) == ("new " + text, false))
  }

  @Test func aServerKeepsNoTexts() async throws {
    var random = SeededGenerator(seed: 24)
    let server = repo()
    server.texts.areKept = false
    let handle = try server.create(Document.note(Self.words(&random)))
    try await server.shutDown(waitingForPeers: .zero)
    #expect(disk.row(StoredTexts.key(handle.id)) == nil)
  }

  @Test func aShortHistoryIsReadItself() async throws {
    let writer = repo()
    let handle = try writer.create(Document.note("milk"))
    try await writer.shutDown(waitingForPeers: .zero)
    #expect(try await read(handle.id) == ("milk", true))
    #expect(disk.row(StoredTexts.key(handle.id)) == nil)
  }

  @Test func aDamagedRowCountsAsNone() async throws {
    var random = SeededGenerator(seed: 25)
    let (id, text) = try await made(&random)
    let row = try #require(disk.row(StoredTexts.key(id)))
    for index in [0, 31, 32, 40, row.count - 1] {
      var damaged = row
      damaged[index] ^= 1
      try await disk.save(StoredTexts.key(id), damaged)
      #expect(try await read(id) == (text, true))
      #expect(disk.row(StoredTexts.key(id)) == row)
    }
    try await disk.save(StoredTexts.key(id), Data())
    #expect(try await read(id) == (text, true))
  }

  @Test func aDeletedDocumentHasNoText() async throws {
    var random = SeededGenerator(seed: 26)
    let (id, _) = try await made(&random)
    try await repo().delete(id: id)
    #expect(disk.row(StoredTexts.key(id)) == nil)
    #expect(try await read(id).text == nil)
  }

  /// A program deletes the document while another one, or this one, is about to keep its texts.
  @Test(arguments: [true, false]) func nothingIsKeptOfADocumentThatIsDeletedMeanwhile(isReader: Bool) async throws {
    var random = SeededGenerator(seed: 28)
    let (id, _) = try await made(&random)
    let (writer, other) = (repo(), repo())
    let handle = try await writer.find(id: id)
    try handle.splice(0, "secret ")
    try await writer.flush()
    disk.beforeSaving.withLock {
      $0 = { key in if key == StoredTexts.key(id) { try? await other.delete(id: id) } }
    }
    if isReader { _ = try await repo().texts.all(of: id) } else { try await writer.texts.keep() }
    #expect(disk.row(StoredTexts.key(id)) == nil)
    #expect(try await read(id).text == nil)
  }

  @Test func whatWasRemovedFromTheDocumentIsInNoText() async throws {
    var random = SeededGenerator(seed: 27)
    let (id, text) = try await made(&random)
    let writer = repo()
    let handle = try await writer.find(id: id)
    let before = handle.document.heads()
    try handle.splice(0, "refused ")
    try await writer.flush()
    #expect(try await read(id).text == "refused " + text)
    _ = try handle.discard(Set(handle.document.changes(since: before).map(\.hash)), goingOnAs: ActorId())
    try await writer.shutDown(waitingForPeers: .zero)
    for _ in 0..<2 { #expect(try await read(id).text == text) }
  }

  /// Two processes write to one store, and end in all ways, while a third reads.
  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func aReaderHasWhatIsStored(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let (id, _) = try await made(&random)
    var writers = [repo(), repo()]
    for step in 0..<60 {
      let index = Int.random(in: 0..<2, using: &random)
      let handle = try await writers[index].find(id: id)
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1: try handle.splice(0, "\(step) ")
      case 2:
        try handle.splice(0, Self.words(&random))
        try await writers[index].flush()
      case 3:
        try await writers[index].shutDown(waitingForPeers: .zero)
        writers[index] = repo()
      case 4:
        try await writers[index].flush()
        writers[index] = repo()
      default: try await writers[index].texts.keep()
      }
      try await writers[0].flush()
      try await writers[1].flush()
      let kept = try await repo().texts.text(of: id, at: "content")
      let read = try await repo().find(id: id).document.content()
      #expect(kept == read, "seed \(seed), step \(step)")
    }
  }
}

/// A store in memory that counts how often chunks are read.
private final class WatchedStorage: StorageProvider {
  private let storage = InMemoryStorage()
  let chunkReads = Mutex(0)
  /// Called before a value is saved, once.
  let beforeSaving = Mutex<(@Sendable (StorageKey) async -> Void)?>(nil)
  private let rows = Mutex<[StorageKey: Data]>([:])

  func row(_ key: StorageKey) -> Data? { rows.withLock { $0[key] } }

  func load(_ key: StorageKey) async throws(StorageError) -> Data? {
    if DocumentId(key[0]) != nil { chunkReads.withLock { $0 += 1 } }
    return try await storage.load(key)
  }

  func save(_ key: StorageKey, _ data: Data) async throws(StorageError) {
    if key.first == "texts" {
      let action = beforeSaving.withLock { action in
        defer { action = nil }
        return action
      }
      await action?(key)
    }
    rows.withLock { $0[key] = data }
    try await storage.save(key, data)
  }

  func remove(_ key: StorageKey) async throws(StorageError) {
    rows.withLock { $0[key] = nil }
    try await storage.remove(key)
  }

  func loadRange(_ prefix: StorageKey) async throws(StorageError) -> [StoredItem] {
    if prefix.first.flatMap({ DocumentId($0) }) != nil { chunkReads.withLock { $0 += 1 } }
    return try await storage.loadRange(prefix)
  }

  func removeRange(_ prefix: StorageKey) async throws(StorageError) { try await storage.removeRange(prefix) }
  func children(of prefix: StorageKey) async throws(StorageError) -> [String] { try await storage.children(of: prefix) }
}
