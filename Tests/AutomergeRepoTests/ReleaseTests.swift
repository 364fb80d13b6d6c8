import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

/// Documents that are not in use leave memory, and come back with everything.
@Suite(.serialized) @AutomergeRepo struct ReleaseTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
}

extension ReleaseTests {
  /// A document of `ana`'s that no part of the program holds, stored if `isStored`.
  private func document(_ text: String, isStored: Bool = true) async throws -> DocumentId {
    let repo = world.start("ana")
    let id = try repo.create(Document.note(text)).id
    if isStored { try await world.flush("ana") }
    return id
  }

  @Test func whatIsStoredAndNotHeldIsLetGoAndLoadedAgain() async throws {
    let id = try await document("milk")
    let repo = try #require(world.repos["ana"])
    #expect(repo.release(id))
    #expect(repo.handles.isEmpty)
    #expect(!repo.release(id))
    let again = try await world.handle(id, at: "ana")
    #expect(try again?.document.content() == "milk")
  }

  @Test func whatIsHeldStays() async throws {
    let id = try await document("milk")
    let repo = try #require(world.repos["ana"])
    let handle = try #require(repo.handle(of: id))
    #expect(!repo.release(id))
    try handle.splice(0, "more ")
    #expect(try repo.handle(of: id)?.document.content() == "more milk")
  }

  @Test func whatIsChangedAfterwardsByTheProgramIsTakenBack() async throws {
    let id = try await document("milk")
    let repo = try #require(world.repos["ana"])
    // The test holds the document but not its handle, so the repo may release it.
    let document = try #require(repo.handle(of: id)?.document)
    let text = try AutomergeText(doc: document, path: "content")
    #expect(repo.release(id))
    text.value = "milk and tea"
    try await world.flush("ana")
    world.crash("ana")
    world.start("ana")
    let again = try await world.handle(id, at: "ana")
    #expect(try again?.document.content() == "milk and tea")
  }

  @Test func whatIsNotStoredStays() async throws {
    let id = try await document("milk", isStored: false)
    let repo = try #require(world.repos["ana"])
    #expect(!repo.release(id))
    try await world.flush("ana")
    #expect(repo.release(id))
  }

  /// A peer whose document is equal has nothing to say when it is loaded again here, so what it said before must be remembered.
  @Test func aPeerThatHadAllOfItStillHasWhenItIsLoadedAgain() async throws {
    let id = try await document("milk")
    world.start("bob")
    world.connect("ana", "bob")
    let bobs = try #require(try await world.handle(id, at: "bob"))
    try await world.clock.run(until: "equal") { bobs.inSync(with: PeerId("ana")) }
    let repo = try #require(world.repos["ana"])
    try await world.clock.run(until: "released") { repo.release(id) }
    let again = try #require(try await world.handle(id, at: "ana"))
    try await world.clock.run(until: "equal again") { again.inSync(with: PeerId("bob")) }
    #expect(again.pendingCount(for: PeerId("bob")) == 0)
    try bobs.splice(0, "more ")
    try await world.clock.run(until: "equal at last") {
      again.inSync(with: PeerId("bob")) && (try? again.document.content()) == "more milk"
    }
  }

  @Test func aPeerOnADocumentThatWasLetGoWritesAndAsksAsBefore() async throws {
    let id = try await document("milk")
    world.start("bob")
    world.connect("ana", "bob")
    let bobs = try #require(try await world.handle(id, at: "bob"))
    try await world.clock.run(until: "equal") { bobs.inSync(with: PeerId("ana")) }
    let repo = try #require(world.repos["ana"])
    try await world.clock.run(until: "released") { repo.release(id) }
    for round in 0..<5 {
      try bobs.splice(0, "\(round) ")
      try await world.clock.run(until: "loaded and equal") {
        (try? repo.handle(of: id)?.document.content()) == (try? bobs.document.content())
      }
      try await world.flush("ana")
      try await world.clock.run(until: "released again") { repo.release(id) }
    }
    let again = try #require(try await world.handle(id, at: "ana"))
    try again.splice(0, "ana ")
    try await world.clock.run(until: "equal again") { (try? bobs.document.content())?.hasPrefix("ana 4 ") ?? false }
    #expect(try again.document.content() == bobs.document.content())
  }
}
