import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A note that goes on as another document while a request for it is under way.
@AutomergeRepo @Suite struct MovedNoteTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 29)))

  /// The store still says where the file was: the move is being stored.
  @Test func openingItDoesNotBringTheOldOneBack() async throws {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let old = try await ana.handle(of: id)
    let new = try ana.service.makeSuccessor(of: old)
    ana.service.notebook.update(id) {
      ($0.path, $0.fileBase, $0.successor, $0.deletedSince) = (nil, nil, new.id, world.clock.date)
    }
    let record = try await ana.service.makeWorkingFile(for: old, title: "Shopping", directory: "/notes")
    #expect(record.successor == new.id)
    #expect(ana.service.notebook.latest(id) == new.id)
    #expect(ana.events("restored").isEmpty)
  }
}
