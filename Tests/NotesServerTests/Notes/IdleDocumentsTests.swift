import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

struct IdleDocumentsTests {
  private static let interval: Duration = .seconds(15)

  @AutomergeRepo
  private final class Room {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 4)))
    let repo: Repo
    let idle: IdleDocuments
    var open: Set<DocumentId> = []

    init() {
      repo = world.start("a")
      idle = IdleDocuments(repo: repo, clock: world.clock)
      idle.begin { [weak self] in self?.open.contains($0) ?? false }
    }

    func create(_ count: Int) async throws -> [DocumentId] {
      let ids = try (0..<count).map { try repo.create(try .note("note \($0)")).id }
      try await world.flush("a")
      return ids
    }

    func isHere(_ id: DocumentId) -> Bool { repo.handle(of: id) != nil }
  }

  @Test @AutomergeRepo func unusedDocumentsAreReleasedWithinTwoLooks() async throws {
    let room = Room()
    let ids = try await room.create(300)
    room.open = [ids[7]]
    room.world.clock.advance(by: IdleDocumentsTests.interval * 2 + .seconds(1))
    #expect(room.repo.handles.map(\.id) == [ids[7]])
    // The note is closed without an event, so the service tries again.
    room.open = []
    room.world.clock.advance(by: IdleDocumentsTests.interval)
    #expect(room.repo.handles.isEmpty)
    // A document that was read again is released again.
    _ = try await room.world.find(ids[3], at: "a")
    #expect(room.isHere(ids[3]))
    room.world.clock.advance(by: IdleDocumentsTests.interval * 2)
    #expect(room.repo.handles.isEmpty)
  }

  @Test @AutomergeRepo func whatIsUsedStaysAndWhatIsNotReleasedIsTriedInTurns() async throws {
    let room = Room()
    let ids = try await room.create(600)
    room.open = Set(ids)
    let used = ids[0]
    for round in 0..<6 {
      room.world.clock.advance(by: IdleDocumentsTests.interval)
      try room.repo.handle(of: used)?.splice(0, "\(round)")
      try await room.world.flush("a")
    }
    #expect(room.repo.handles.count == 600)
    room.open = []
    // Three checks release the documents that were kept, a part at each; the one that was used waits for its second
    // quiet check.
    room.world.clock.advance(by: IdleDocumentsTests.interval * 4 + .seconds(1))
    #expect(room.repo.handles.isEmpty)
  }
}
