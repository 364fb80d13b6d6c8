import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A guest brings many changes that know nothing of each other.
@AutomergeRepo struct HeadMergingTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 61)))

  /// A service with a note.
  private func service() async throws -> (ServiceUnderTest, DocHandle) {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    return (ana, try await ana.handle(of: id))
  }

  @Test func headsThatNobodyJoinsAreMergedAndTheTextStaysAsItIs() async throws {
    let (ana, note) = try await service()
    try note.take(try Document.changes(onTopOf: note.document, count: HeadMerging.maximumHeads + 1))
    let before = note.document.heads()
    #expect(before.count == HeadMerging.maximumHeads + 1)
    try await ana.wait(for: "one head") { note.document.heads().count == 1 }
    #expect(note.document.unknown(before).isEmpty && ana.text(of: note.id) == "tea\n")
    #expect(note.document.changes(since: before).map(\.actorId) == [note.document.actor])
    // It is stored like any other change.
    try await ana.wait(for: "stored") { note.isStored }
  }

  /// People who write at the same time join each other's heads as they write.
  @Test func aFewHeadsStayAsTheyAre() async throws {
    let (ana, note) = try await service()
    try note.take(try Document.changes(onTopOf: note.document, count: HeadMerging.maximumHeads))
    try await ana.pass(.seconds(3))
    #expect(note.document.heads().count == HeadMerging.maximumHeads)
  }

  @Test func whoMayOnlyReadMergesNothing() async throws {
    let (ana, note) = try await service()
    (ana.sharing.hostName, ana.sharing.access) = ("Carol", .read)
    let count = HeadMerging.maximumHeads + 1
    try note.take(try Document.changes(onTopOf: note.document, count: count))
    try await ana.pass(.seconds(3))
    #expect(note.document.heads().count == count)
  }
}
