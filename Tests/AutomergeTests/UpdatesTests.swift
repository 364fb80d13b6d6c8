import Foundation
import TestSupport
import Testing

@testable import Automerge

struct UpdatesTests {
  @Test func changesAreReportedOnceHoweverManyTheyAre() async throws {
    var document: Document? = try Document(actor: "0a")
    var updates = try require(document).updates().makeAsyncIterator()
    try document?.put(obj: .ROOT, key: "a", value: .Int(1))
    try document?.put(obj: .ROOT, key: "b", value: .Int(2))
    #expect(await updates.next() != nil)
    // Reading, and ending the transaction, changes nothing.
    _ = document?.heads()
    _ = document?.save()
    document = nil
    #expect(await updates.next() == nil)
  }

  @Test func changesOfOthersAreReported() async throws {
    let document = try Document(actor: "0a"), fork = document.fork()
    var updates = document.updates().makeAsyncIterator()
    try fork.put(obj: .ROOT, key: "a", value: .Int(1))
    try document.merge(other: fork)
    #expect(await updates.next() != nil)
    try fork.put(obj: .ROOT, key: "a", value: .Int(2))
    try document.applyEncodedChanges(encoded: fork.encodeChangesSince(heads: document.heads()))
    #expect(await updates.next() != nil)
    let loaded = Document()
    var loads = loaded.updates().makeAsyncIterator()
    try loaded.applyEncodedChanges(encoded: document.save())
    #expect(await loads.next() != nil)
  }

  @Test func readersAndWritersOnSeveralThreadsAgree() async throws {
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    let updates = document.updates()
    let reader = Task {
      var mirror = PatchMirror(), heads: Set<ChangeHash> = []
      for await _ in updates {
        let now = document.heads()
        try mirror.apply(document.difference(from: heads, to: now))
        heads = now
        if document.length(obj: text) == 400 { break }
      }
      try mirror.apply(document.difference(since: heads))
      return try mirror.tree()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<100 { try document.spliceText(obj: text, start: 0, delete: 0, value: "x") }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await reader.value == document.contentTree())
  }
}
