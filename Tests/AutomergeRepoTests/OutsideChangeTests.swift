import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// Documents that are changed without their handles, as a program does that binds values to them.
struct OutsideChangeTests {
  @Test @AutomergeRepo func aBoundTextIsStoredAndSyncedWhereverItIsChanged() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 41)))
    let (ana, _) = (world.start("a"), world.start("b"))
    world.connectAll()
    let handle = try ana.create(try .note())
    try await world.flush("a")
    let other = try #require(try await world.handle(handle.id, at: "b"))
    let text = try AutomergeText(doc: handle.document, path: "content")
    text.value = "milk and tea"
    #expect(!handle.isStored)
    try await world.clock.run(until: "Ben has it") { (try? other.document.content()) == "milk and tea" }
    try await world.clock.run(until: "stored") { handle.isStored }
    world.crash("a")
    world.start("a")
    #expect(try await world.handle(handle.id, at: "a")?.document.content() == "milk and tea")
  }

  @Test @AutomergeRepo func aCounterOfAnotherThreadIsStoredByFlush() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 42)))
    let handle = try world.start("a").create(try .note())
    try handle.change { try $0.put(obj: .ROOT, key: "votes", value: .Counter(0)) }
    try await world.flush("a")
    let document = handle.document
    // Flushing is asked for before the actor has had a turn to hear of it.
    let thread = Thread {
      for _ in 0..<100 { try? document.increment(obj: .ROOT, key: "votes", by: 1) }
    }
    thread.start()
    while !thread.isFinished { await Task.yield() }
    #expect(!handle.isStored)
    try await world.flush("a")
    #expect(handle.isStored)
    world.crash("a")
    world.start("a")
    let again = try #require(try await world.handle(handle.id, at: "a"))
    #expect(try again.document.get(obj: .ROOT, key: "votes") == .Scalar(.Counter(100)))
  }

  @Test @AutomergeRepo func changesOfManyThreadsAndOfTheHandleAreAllStored() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 43)))
    let handle = try world.start("a").create(try .note())
    let document = handle.document
    let threads = (0..<4).map { number in
      Thread { for count in 0..<200 { try? document.put(obj: .ROOT, key: "\(number)", value: .Int(Int64(count))) } }
    }
    for thread in threads { thread.start() }
    while !threads.allSatisfy(\.isFinished) {
      try handle.splice(0, "x")
      await Task.yield()
    }
    let text = try document.content()
    try await world.clock.run(until: "stored") { handle.isStored }
    world.crash("a")
    world.start("a")
    let again = try #require(try await world.handle(handle.id, at: "a"))
    for number in 0..<4 { #expect(try again.document.get(obj: .ROOT, key: "\(number)") == .Scalar(.Int(199))) }
    #expect(try again.document.content() == text)
    #expect(again.document.heads() == document.heads())
  }

  @Test @AutomergeRepo func theHandlesOwnChangesAreNoNews() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 44)))
    let handle = try world.start("a").create(try .note())
    var count = 0
    let observation = handle.observe { if case .headsChanged = $0 { count += 1 } }
    for number in 0..<50 { try handle.splice(number, "x") }
    try await world.clock.run(until: "stored") { handle.isStored }
    #expect(count == 50)
    observation.cancel()
  }
}
