import Automerge
import Foundation
import TestSupport
import Testing

@testable import AutomergeRepo

/// Reading a document from its rows in a store.
struct StoredChunksTests {
  /// A store has rows in the order of their hashes, so nearly every change waits for one that comes later: for more of them than a
  /// document lets wait for what never comes.
  @Test func aDocumentOfThousandsOfChunksIsReadWhole() async throws {
    var random = SeededGenerator(seed: 1)
    let (id, storage) = (DocumentId.random(using: &random), InMemoryStorage())
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    let snapshot = document.save()
    try await storage.save(StoredChunks.key(.snapshot, id, snapshot), snapshot)
    for place in 0..<4500 {
      try document.spliceText(obj: text, start: UInt64(place), delete: 0, value: "a")
      let chunk = document.encodeNewChanges()
      try await storage.save(StoredChunks.key(.incremental, id, chunk), chunk)
    }
    let chunks = try await StoredChunks.load(id, from: storage)
    let read = try #require(chunks.document)
    #expect(read.heads() == document.heads())
    #expect(chunks.damaged.isEmpty && chunks.isComplete && chunks.used.count == 4501)
  }
}
