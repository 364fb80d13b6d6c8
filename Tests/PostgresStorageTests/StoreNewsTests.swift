import Automerge
import AutomergeRepo
import Foundation
import PostgresStorage
import RepoTestSupport
import TestSupport
import Testing
import UV

/// Processes on one database that are not connected to each other.
@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct StoreNewsTests {}

extension StoreNewsTests {
  @AutomergeRepo
  private final class Process {
    let store: PostgresStore
    let repo: Repo
    let news: StoreNews

    init(_ name: String, _ fixture: StoreAtServer) async throws {
      store = try await fixture.open()
      repo = Repo(peerId: PeerId(name), storage: store, sharePolicy: ShareNothing())
      news = StoreNews(of: store, for: repo)
    }

    func open(_ id: DocumentId) async throws -> DocHandle {
      guard case .found(let handle) = await repo.find(id) else { throw HasNotCome(description: "the document") }
      return handle
    }

    func end() async throws {
      news.stop()
      try await repo.shutDown()
      await store.close()
    }
  }

  @AutomergeRepo
  private static func wait(_ what: String, _ processes: [Process], until condition: () throws -> Bool) async throws {
    let deadline = ContinuousClock.now + Patience.hang
    while try !condition() {
      guard ContinuousClock.now < deadline else { throw HasNotCome(description: what) }
      for process in processes { process.news.look() }
      await Task.yield()
    }
  }

  @Test func whatOneProcessStoresReachesTheOthersThatHaveTheDocumentOpen() async throws {
    try await TestLoop.run { _ in
      let fixture = try StoreAtServer()
      let processes = [
        try await Process("a", fixture), try await Process("b", fixture), try await Process("c", fixture),
      ]
      let first = try processes[0].repo.create(Document.note("shared "))
      try await first.flush()
      let handles = [first, try await processes[1].open(first.id), try await processes[2].open(first.id)]
      for (number, handle) in handles.enumerated() {
        for word in 0..<5 {
          try handle.splice(0, "\(number)-\(word) ")
          if word % 2 == 0 { try await handle.flush() }
        }
      }
      try await Self.wait("equal documents", processes) {
        let text = try handles[2].document.content() ?? ""
        return Set(handles.map { $0.document.heads() }).count == 1 && text.split(separator: " ").count == 16
      }
      for handle in handles { try await handle.flush() }
      // What one has merged in the database is known to the others.
      for process in processes { try await process.end() }
    }
  }

  @Test func aTransactionThatIsCommittedLateIsNotMissed() async throws {
    try await TestLoop.run { _ in
      let fixture = try StoreAtServer()
      let (one, other) = (try await Process("a", fixture), try await Process("b", fixture))
      let mine = try one.repo.create(Document.note(""))
      try await mine.flush()
      let theirs = try await other.open(mine.id)
      try await Self.wait("the first look", [other]) { theirs.document.heads() == mine.document.heads() }
      // A chunk of a third process, whose transaction is under way while later ones are committed.
      let third = theirs.document.fork()
      let base = third.heads()
      let content = try #require(try third.contentId())
      try third.spliceText(obj: content, start: 0, delete: 0, value: "late")
      let chunk = PostgresStoreTests.chunk(of: mine.id.description, try third.encodeChangesSince(heads: base))
      let psql = try ChildProcess([
        "psql", "-X", "-q", "-A", "-t", "-h", fixture.server.folder, "-U", "tests", "-d", fixture.database,
      ])
      psql.write(
        Array(
          """
          BEGIN; INSERT INTO notes_lsp.chunk (document, kind, sha256, part, bytes, writer) VALUES
          ('\(chunk.key[0])', 'incremental', '\\x\(chunk.key[2])', 0, '\\x\(Hex.text(chunk.data))', gen_random_uuid());
          SELECT 'begun';

          """.utf8))
      try psql.wait(for: "an open transaction", until: .now + Patience.hang) { $0.output.contains("begun") }
      for number in 0..<12 {
        try mine.splice(0, "\(number) ")
        try await mine.flush()
        try await Self.wait("later ones", [other]) { theirs.document.heads() == mine.document.heads() }
      }
      psql.write(Array("COMMIT;\n".utf8))
      try await Self.wait("the late one", [one, other]) {
        let texts = [try mine.document.content() ?? "", try theirs.document.content() ?? ""]
        return texts.allSatisfy { $0.contains("late") } && Set(texts).count == 1
      }
      try await one.end()
      try await other.end()
    }
  }

  @Test func aForgedChunkStopsNothing() async throws {
    try await TestLoop.run { _ in
      let fixture = try StoreAtServer()
      let (one, other) = (try await Process("a", fixture), try await Process("b", fixture))
      let mine = try one.repo.create(Document.note(""))
      try await mine.flush()
      let theirs = try await other.open(mine.id)
      try await Self.wait("the first look", [other]) { theirs.document.heads() == mine.document.heads() }
      for (kind, bytes) in [("incremental", "00"), ("snapshot", "856f4a83"), ("snapshot", ""), ("other", "00")] {
        try fixture.run(
          """
          INSERT INTO notes_lsp.chunk (document, kind, sha256, part, bytes, writer)
          VALUES ('\(mine.id)', '\(kind)', sha256('\\x\(bytes)'), 0, '\\x\(bytes)', gen_random_uuid()),
          ('\(mine.id)', '\(kind)', '\\x00', 0, '\\x\(bytes)', gen_random_uuid()),
          ('%zz', '\(kind)', sha256('\\x\(bytes)'), 0, '\\x\(bytes)', gen_random_uuid())
          ON CONFLICT DO NOTHING
          """)
      }
      try mine.splice(0, "goes on")
      try await mine.flush()
      try await Self.wait("what was typed", [other]) { try theirs.document.content() == "goes on" }
      try await one.end()
      try await other.end()
    }
  }

  // MARK: The table of processes

  @Test func processesFindEachOtherUntilTheyEnd() async throws {
    try await TestLoop.run { _ in
      let fixture = try StoreAtServer()
      let clock = ManualClock()
      var beats: [StoreHeartbeat] = []
      for number in 0..<3 {
        let beat = StoreHeartbeat(
          of: try await fixture.open(), addresses: ["127.0.0.1:\(4000 + number)", "[::1]:1"], key: "KEY\(number)",
          clock: clock)
        beats.append(beat)
        beat.start()
      }
      @AutomergeRepo func keys(_ number: Int) -> [String] { beats[number].processes.map(\.key).sorted() }
      try await clock.run(until: "all of them", horizon: .seconds(60)) {
        keys(0) == ["KEY1", "KEY2"] && keys(1) == ["KEY0", "KEY2"] && keys(2) == ["KEY0", "KEY1"]
      }
      #expect(beats[0].processes.first { $0.key == "KEY1" }?.addresses == ["127.0.0.1:4001", "[::1]:1"])
      await beats[1].stop()
      try await clock.run(until: "one less", horizon: .seconds(60)) { keys(0) == ["KEY2"] && keys(2) == ["KEY0"] }
      // One that was killed leaves its row, which expires by the database's clock.
      try fixture.run(
        "INSERT INTO notes_lsp.process VALUES (gen_random_uuid(), '', 'DEAD', now() - interval '11 seconds')")
      try fixture.run(
        "INSERT INTO notes_lsp.process VALUES (gen_random_uuid(), 'x y', 'NEW', now() - interval '1 second')")
      try await clock.run(until: "a new one", horizon: .seconds(60)) { keys(0) == ["KEY2", "NEW"] }
      await beats[0].stop()
      await beats[2].stop()
    }
  }
}
