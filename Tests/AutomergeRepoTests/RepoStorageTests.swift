import Automerge
import FileStorage
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// What a repo has in its store, and when.
struct RepoStorageTests {
  @Test @AutomergeRepo func editsAreStoredInGroups() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
    let repo = world.start("a")
    let handle = try repo.create(try .note())
    try await world.clock.run(until: "created and stored") { handle.isStored }
    let store = try #require(world.stores["a"])
    let before = store.saveCount
    for number in 0..<30 { try handle.splice(number, "x") }
    #expect(!handle.isStored)
    try await world.clock.run(until: "stored", horizon: .milliseconds(60)) { handle.isStored }
    // One chunk, and the heads.
    #expect(store.saveCount == before + 2)
    world.crash("a")
    world.start("a")
    let again = try #require(try await world.handle(handle.id, at: "a"))
    #expect(try again.document.content() == String(repeating: "x", count: 30))
    #expect(again.document.heads() == handle.document.heads())
  }

  /// What a program does with the document is its own business.
  @Test(arguments: ["save", "encodeNewChanges", "export", "another repo"])
  @AutomergeRepo func editsAreStoredWhateverTheProgramSavesOrEncodesMeanwhile(_ use: String) async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
    let repo = world.start("a")
    let handle = try repo.create(try .note())
    try await world.flush("a")
    try handle.splice(0, "first ")
    switch use {
    case "save": _ = handle.document.save()
    case "encodeNewChanges": _ = handle.document.encodeNewChanges()
    case "export": _ = try await repo.export(id: handle.id)
    default: _ = try world.start("other").create(handle.document)
    }
    try await world.flush("a")
    #expect(handle.isStored)
    try handle.splice(6, "second")
    try await world.flush("a")
    world.crash("a")
    world.start("a")
    let again = try #require(try await world.handle(handle.id, at: "a"))
    #expect(try again.document.content() == "first second")
    #expect(again.document.heads() == handle.document.heads())
  }

  @Test @AutomergeRepo func aDocumentThatLacksAChunkSaysSoAndKeepsTheOthers() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 4)))
    let repo = world.start("a")
    let handle = try repo.create(try .note("one"))
    try await world.flush("a")
    let store = try #require(world.stores["a"])
    try handle.splice(3, " three")
    try await world.flush("a")
    let lost = try #require(try await store.loadRange([handle.id.description, "incremental"]).first)
    try handle.splice(3, " two")
    try await world.flush("a")
    try await store.remove(lost.key)
    world.crash("a")
    world.start("a")
    let again = try #require(try await world.handle(handle.id, at: "a"))
    #expect(again.lacksChanges)
    #expect(!handle.lacksChanges)
    // So much that the chunks would be merged, if they were whole.
    var random = SeededGenerator(seed: 4)
    for _ in 0..<4 {
      let text = String((0..<40_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 97...122, using: &random))) })
      try again.splice(0, text)
      try await world.flush("a")
      try await world.clock.run(until: "no merge is running") { again.isCompacting == false }
    }
    try await world.stores["a"]?.save(lost.key, lost.data)
    world.crash("a")
    world.start("a")
    let healed = try #require(try await world.handle(handle.id, at: "a"))
    #expect(!healed.lacksChanges)
    #expect(try healed.document.content()?.hasSuffix("one two three") == true)
  }

  @Test @AutomergeRepo func aFullDiskIsSeenAndTriedAgain() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 2)))
    let repo = world.start("a")
    let handle = try repo.create(try .note())
    try await world.flush("a")
    world.stores["a"]?.failSaves(3)
    try handle.splice(0, "kept")
    try await world.clock.run(until: "the problem is visible") { handle.storageProblem == .full }
    #expect(!handle.isStored)
    await #expect(throws: StorageError.full) { try await world.flush("a") }
    try await world.clock.run(until: "stored after all", horizon: .seconds(20)) { handle.isStored }
    #expect(handle.storageProblem == nil)
    world.crash("a")
    world.start("a")
    #expect(try await world.handle(handle.id, at: "a")?.document.content() == "kept")
  }

  /// Such a change would be lost without a word: the peer would take it for kept here.
  @Test(arguments: [1, 40_000]) @AutomergeRepo
  func aChangeThatArrivesWhileTheRepoIsShutDownIsStoredOrSentAgain(length: Int) async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 6)))
    let repo = world.start("a")
    world.start("b")
    let (first, second) = (try repo.create(try .note()), try repo.create(try .note()))
    world.connectAll()
    let theirs = try #require(try await world.handle(first.id, at: "b"))
    try await world.flush("a")
    let store = try #require(world.stores["a"])
    store.holdSaves(of: second.id.description)
    try first.splice(0, "ours ")
    try second.splice(0, "late")
    let end = Task { try await repo.shutDown() }
    try await world.clock.run(until: "one document is stored, the other not yet") {
      first.isStored && store.heldSaveCount > 0 && theirs.document.heads() == first.document.heads()
    }
    var isDelivered = false
    world.network.onDelivery = { message, sender, _ in
      if case .document(let message) = message, message.documentId == first.id, sender == "b" { isDelivered = true }
    }
    try theirs.splice(0, String(repeating: "theirs ", count: length))
    try await world.clock.run(until: "the change has arrived") { isDelivered }
    // Time for an answer, and not for another write of the document.
    for _ in 0..<100 { await AutomergeRepo.yield() }
    world.clock.advance(by: .milliseconds(40))
    let isTakenForKept = theirs.inSync(with: "a")
    store.holdSaves(of: nil)
    try await end.value
    world.crash("a")
    world.start("a")
    let again = try #require(try await world.handle(first.id, at: "a"))
    let isKept = try again.document.content()?.hasPrefix("theirs ") == true
    #expect(isKept || !isTakenForKept)
    world.connect("a", "b")
    try await world.clock.run(until: "both have it") { again.document.heads() == theirs.document.heads() }
    #expect(try again.document.content()?.hasSuffix("theirs ours ") == true)
  }

  /// A document of two processes of one store: the other one has stored "green ", this one has typed "!".
  @AutomergeRepo private struct TwoProcesses {
    let here = Repo(peerId: PeerId("first"), storage: InMemoryStorage())
    let there: Repo
    let handle: DocHandle
    let other: DocHandle

    init() async throws {
      handle = try here.create(try .note("tea"))
      try await handle.flush()
      there = Repo(peerId: PeerId("second"), storage: here.storage)
      guard case .found(let found) = await there.find(handle.id) else { throw CancellationError() }
      other = found
      try other.splice(0, "green ")
      try await other.flush()
      try handle.splice(3, "!")
    }
  }

  /// Another process of the store wrote to the document after this one had read it, and ended without a word.
  @Test @AutomergeRepo func whatAnEndedProcessHasStoredIsTakenIn() async throws {
    let processes = try await TwoProcesses()
    let handle = processes.handle
    try await handle.takeStored()
    #expect(try handle.document.content() == "green tea!")
    let heads = handle.document.heads()
    try await handle.takeStored()
    #expect(handle.document.heads() == heads)
  }

  /// Both write the row of heads: the last one hides the changes that it does not know.
  @Test @AutomergeRepo func whatAnotherProcessHasStoredIsTakenInAlthoughThisOneStoredLast() async throws {
    let processes = try await TwoProcesses()
    try await processes.handle.flush()
    try await processes.handle.takeStored()
    #expect(try processes.handle.document.content() == "green tea!")
    // The other one has read the first chunk alone, and is in the same position.
    try await processes.other.takeStored()
    #expect(try processes.other.document.content() == "green tea!")
  }

  /// Compressed, and not read, merged and written once more.
  @Test @AutomergeRepo func aDocumentThatArrivesWholeIsStoredAsItCame() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 4)))
    let note = try world.start("a").create(try .note(String(repeating: "a line of a long note\n", count: 20_000)))
    world.start("b")
    world.connectAll()
    let copy = try #require(try await world.handle(note.id, at: "b"))
    try await world.flush("b")
    #expect(copy.isStored && !copy.isCompacting)
    let store = try #require(world.stores["b"])
    let snapshots = try await store.loadRange([note.id.description, "snapshot"])
    #expect(snapshots.count == 1)
    #expect(snapshots.reduce(0) { $0 + $1.data.count } < 10_000)
    #expect(try await store.loadRange([note.id.description, "incremental"]).isEmpty)
    // What comes after it is stored as ever.
    try copy.splice(0, "more: ")
    try await world.flush("b")
    #expect(try await store.loadRange([note.id.description, "incremental"]).count == 1)
    world.crash("b")
    world.start("b")
    let again = try #require(try await world.handle(note.id, at: "b"))
    #expect(again.document.heads() == copy.document.heads())
    #expect(try again.document.content()?.hasPrefix("more: a line") == true)
  }

  @Test @AutomergeRepo func manySmallChunksBecomeOneSnapshot() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 3)))
    let repo = world.start("a")
    let handle = try repo.create(try .note())
    try await world.flush("a")
    let store = try #require(world.stores["a"])
    var random = SeededGenerator(seed: 3)
    var most = 0
    for _ in 0..<12 {
      let text = String((0..<8_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 97...122, using: &random))) })
      try handle.splice(0, text)
      try await world.flush("a")
      most = max(most, try await store.loadRange([handle.id.description]).count)
    }
    try await world.clock.run(until: "compacted") { handle.isCompacting == false }
    let chunks = try await store.loadRange([handle.id.description])
    #expect(chunks.count < most)
    world.crash("a")
    world.start("a")
    let again = try #require(try await world.handle(handle.id, at: "a"))
    #expect(again.document.heads() == handle.document.heads())
  }

  /// What is pasted again and again makes a short snapshot, and long chunks.
  @Test @AutomergeRepo func aLongTextThatMakesAShortSnapshotIsMergedNowAndThen() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 3)))
    let repo = world.start("a")
    let handle = try repo.create(try .note())
    let store = try #require(world.stores["a"])
    let paste = String(repeating: "paste ", count: 12_000)
    var snapshots: Set<StorageKey> = []
    for _ in 0..<40 {
      try handle.splice(0, paste)
      try await world.flush("a")
      try await world.clock.run(until: "merged") { handle.isCompacting == false }
      snapshots.formUnion(try await store.loadRange([handle.id.description, "snapshot"]).map(\.key))
    }
    #expect(snapshots.count > 1 && snapshots.count < 14, "\(snapshots.count)")
  }

  @Test @AutomergeRepo func aDamagedChunkCostsOnlyItselfAndStays() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 4)))
    let repo = world.start("a")
    world.start("b")
    let handle = try repo.create(try .note("one"))
    try await world.flush("a")
    // A copy for b, which then heals a.
    world.connect("a", "b")
    for word in [" two", " three"] {
      try handle.splice(3, word)
      try await world.flush("a")
    }
    try await world.clock.run(until: "b has it all") { handle.inSync(with: PeerId("b")) }
    let store = try #require(world.stores["a"])
    let incrementals = try await store.loadRange([handle.id.description, "incremental"])
    #expect(incrementals.count == 2)
    let torn = try #require(incrementals.first)
    try await store.save(torn.key, torn.data.dropLast(3))
    world.crash("a")
    world.start("a")
    let again = try #require(try await world.handle(handle.id, at: "a"))
    #expect(again.damagedChunks == [torn.key])
    #expect(try again.document.content()?.hasPrefix("one") == true)
    #expect(try await store.load(torn.key) != nil)
    world.connect("a", "b")
    try await world.clock.run(until: "healed") { again.document.heads() == handle.document.heads() }
  }

  @Test @AutomergeRepo func aStoreOfRubbishIsNoDocument() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 5)))
    world.start("a")
    let id = try #require(DocumentId(bytes: Array(1...16)))
    let store = try #require(world.stores["a"])
    for kind in ["snapshot", "incremental"] { try await store.save([id.description, kind, "00"], Data([1, 2, 3])) }
    let rubbish = Data("rubbish".utf8)
    try await store.save(StoredChunks.key(.snapshot, id, rubbish), rubbish)
    guard case .unavailable? = try await world.find(id, at: "a") else {
      Issue.record("found")
      return
    }
    #expect(try await store.loadRange([id.description]).count == 3)
  }

  @Test @AutomergeRepo func filesCarryADocumentOverARestart() async throws {
    let directory = try TemporaryDirectory()
    let root = URL(fileURLWithPath: directory.file("store"))
    var id: DocumentId?
    for round in 0..<3 {
      let repo = Repo(peerId: PeerId("a"), storage: try FileStore(directory: root))
      let handle: DocHandle
      if let id {
        guard case .found(let found) = await repo.find(id) else {
          Issue.record("round \(round)")
          return
        }
        handle = found
      } else {
        handle = try repo.create(try .note())
        id = handle.id
      }
      #expect(try handle.document.content() == String(repeating: "x", count: round))
      try handle.splice(0, "x")
      try await repo.shutDown()
      #expect(handle.isStored)
    }
  }
}
