import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

/// A peer that may write, and writes in another author's name.
struct ForgedChangesTests {
  @Test @AutomergeRepo func changesInOurOwnNameAreNotTakenAndOthersAre() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
    let ana = world.start("ana")
    world.start("eve")
    world.connect("ana", "eve")
    let mine = try ana.create(try .note("hello"))
    try await world.clock.run(until: "eve has it") { world.repos["eve"]?.handle(of: mine.id) != nil }
    let theirs = try #require(world.repos["eve"]?.handle(of: mine.id))
    let actor = mine.document.actor
    world.disconnect("ana", "eve")

    // Eve writes as Ana, and then as herself.
    theirs.document.actor = actor
    try theirs.splice(0, "forged ")
    theirs.document.actor = ActorId()
    try mine.splice(5, " world")
    world.connect("ana", "eve")
    world.clock.advance(by: .seconds(5))
    #expect(try mine.document.content() == "hello world")
    // Ana goes on, and what she writes is hers alone.
    try mine.splice(0, "well, ")
    #expect(try mine.document.content() == "well, hello world")

    // An honest peer is still heard.
    let ben = world.start("ben")
    world.connect("ana", "ben")
    try await world.clock.run(until: "ben has it") { ben.handle(of: mine.id) != nil }
    let bens = try #require(ben.handle(of: mine.id))
    try bens.splice(0, "oh ")
    try await world.clock.run(until: "ana hears ben") { (try? mine.document.content()) == "oh well, hello world" }
  }

  @Test func onlyWhatIsNotThereYetIsForged() throws {
    let ana = try Document.note("one")
    let copy = ana.fork()
    let (state, copyState) = (SyncState(), SyncState())
    // The copy gives Ana's own changes back to her: nothing is wrong with that.
    for _ in 0..<4 {
      if let message = ana.generateSyncMessage(state: state) {
        _ = try copy.receiveSyncMessageWithTextEdits(state: copyState, message: message)
      }
      if let message = copy.generateSyncMessage(state: copyState) {
        var filter = AuthorFilter(refusing: ana.actor)
        _ = try ana.receiveSyncMessageWithTextEdits(state: state, message: message, filter: &filter)
        #expect(filter.leftOut.isEmpty)
      }
    }
    #expect(ana.heads() == copy.heads())
    // A document in which nothing is yet is given one that claims to have been written by it.
    let empty = Document()
    let forger = Document()
    forger.actor = empty.actor
    try forger.put(obj: .ROOT, key: "x", value: .String("y"))
    let (emptyState, forgerState) = (SyncState(), SyncState())
    var refused = false
    for _ in 0..<4 {
      if let message = empty.generateSyncMessage(state: emptyState) {
        _ = try forger.receiveSyncMessageWithTextEdits(state: forgerState, message: message)
      }
      if let message = forger.generateSyncMessage(state: forgerState) {
        do {
          var filter = AuthorFilter(refusing: empty.actor)
          _ = try empty.receiveSyncMessageWithTextEdits(state: emptyState, message: message, filter: &filter)
        } catch {
          refused = true
        }
      }
    }
    #expect(refused)
    #expect(empty.heads().isEmpty)
  }
}
