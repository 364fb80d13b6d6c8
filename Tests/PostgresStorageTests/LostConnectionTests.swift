import AutomergeRepo
import Foundation
import PostgresStorage
import RepoTestSupport
import TestSupport
import Testing
import UV

/// Connections that are cut at the worst moments.
@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct LostConnectionTests {}

extension LostConnectionTests {
  /// A store behind a proxy, and another process's beside it.
  @AutomergeRepo
  private final class Scene {
    let fixture: StoreAtServer
    let proxy: CuttingProxy
    let store: PostgresStore
    let other: PostgresStore

    init(_ loop: Loop) async throws {
      fixture = try StoreAtServer()
      proxy = try CuttingProxy(to: fixture.server.folder, on: loop)
      store = try await fixture.open(folder: proxy.folder)
      other = try await fixture.open()
      try await store.save(["before"], Data([0]))
    }

    func end() async {
      await store.close()
      await other.close()
      proxy.close()
    }

    func wait(_ what: String, until condition: () async throws -> Bool) async throws {
      let deadline = ContinuousClock.now + Patience.hang
      while try await !condition() {
        guard ContinuousClock.now < deadline else { throw HasNotCome(description: "waited for: \(what)") }
        await Task.yield()
      }
    }

    /// Saves, but keeps back what one side says from the writer's COMMIT on. Returns when that has been sent, and if only the
    /// answer is kept back, when another process reads the value.
    func save(
      _ key: StorageKey, _ data: Data, holding side: CuttingProxy.Side
    ) async throws -> (saving: Task<Void, any Error>, link: CuttingProxy.Link) {
      var held: CuttingProxy.Link?
      proxy.onBytes = { link, from, bytes in
        guard held == nil, from == .client, bytes.contains("COMMIT") else { return }
        held = link
        link.holds = [side]
      }
      let saving = Task { try await store.save(key, data) }
      try await wait("the commit") { side == .client ? held != nil : try await other.load(key) == data }
      proxy.onBytes = nil
      return (saving, try #require(held))
    }
  }

  @Test func aCommitWhoseAnswerWasLostIsNotMadeAgain() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(loop)
      let (saving, link) = try await scene.save(["r"], Data([1]), holding: .server)
      // Another process goes on from what it has read.
      try await scene.other.save(["r"], Data([2]))
      link.cutClient()
      try await saving.value
      #expect(try await scene.store.load(["r"]) == Data([2]))
      #expect(scene.store.lossCount == 0)
      await scene.end()
    }
  }

  @Test func aCommitThatHasNotArrivedIsMadeWhenThereIsAConnection() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(loop)
      let (saving, link) = try await scene.save(["r"], Data([1]), holding: .client)
      link.cutClient()
      try await saving.value
      #expect(try await scene.other.load(["r"]) == Data([1]))
      await scene.end()
    }
  }

  @Test func aTransactionThatArrivesLateChangesNothing() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(loop)
      // The server does not hear of the end of the first connection, and gets what was sent over it in the end.
      scene.proxy.closesServers = false
      let (saving, link) = try await scene.save(["r"], Data([1]), holding: .client)
      link.client.onClose = nil
      link.server?.onClose = nil
      link.cutClient()
      try await saving.value
      try await scene.store.save(["r"], Data([2]))
      link.release(.client)
      // The server has ended the connection, or refuses what comes over it.
      link.server?.close()
      try await scene.store.save(["after"], Data([3]))
      #expect(try await scene.other.load(["r"]) == Data([2]))
      await scene.end()
    }
  }

  @Test func readsThatWereUnderWayAreMadeAgain() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(loop)
      for number in 0..<50 {
        try await scene.other.save(["v", "\(number)"], Data(repeating: UInt8(number), count: 9000))
      }
      var cuts = 0
      scene.proxy.onBytes = { link, side, bytes in
        guard cuts < 5, side == .server, !link.isWriter, bytes.count > 20_000 else { return }
        cuts += 1
        link.holds = [.server]
        link.cutClient()
      }
      let reads = (0..<200).map { number in
        Task { [store = scene.store] in try await store.load(["v", "\(number % 50)"]) }
      }
      for (number, read) in reads.enumerated() {
        #expect(try await read.value == Data(repeating: UInt8(number % 50), count: 9000))
      }
      #expect(cuts > 0)
      await scene.end()
    }
  }

  @Test func aDatabaseThatWasReplacedByAnOlderOneIsNoticed() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(loop)
      try await scene.store.save(["late"], Data([1]))
      // What a restored backup is: the rows of an earlier moment.
      try scene.fixture.run(
        "UPDATE notes_lsp.writer SET number = number - 1; DELETE FROM notes_lsp.record WHERE key = 'late/'")
      for link in scene.proxy.links where link.isWriter { link.cutClient() }
      try await scene.store.save(["next"], Data([2]))
      #expect(scene.store.lossCount == 1)
      await scene.end()
    }
  }

  @Test func aCommitThatWasConfirmedByALaterConnectionIsMissedInAnOlderDatabase() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(loop)
      let (saving, link) = try await scene.save(["late"], Data([1]), holding: .server)
      link.cutClient()
      try await saving.value
      #expect(scene.store.lossCount == 0)
      try scene.fixture.run(
        "UPDATE notes_lsp.writer SET number = number - 1; DELETE FROM notes_lsp.record WHERE key = 'late/'")
      for link in scene.proxy.links where link.isWriter { link.cutClient() }
      try await scene.store.save(["next"], Data([2]))
      #expect(scene.store.lossCount == 1)
      await scene.end()
    }
  }

  @Test func aProcessWhoseRowWasRemovedGoesOn() async throws {
    let fixture = try StoreAtServer()
    let store = try await fixture.open()
    try await store.save(["a"], Data([1]))
    try fixture.run("DELETE FROM notes_lsp.writer")
    try await store.save(["b"], Data([2]))
    #expect(try await store.loadRange([]).count == 2)
  }
}

/// A condition did not come true in time.
struct HasNotCome: Error, CustomStringConvertible {
  let description: String
}
