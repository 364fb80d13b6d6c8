import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import NotesHarness
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork

/// A peer that may write can pass on changes in the name of an author who is away, but cannot sign them.
@Suite(.serialized, .enabled(if: NotesBinary.path != nil, "needs notes-lsp, built or named by NOTES_LSP_BINARY"))
struct UnverifiedChangesTests {}

extension UnverifiedChangesTests {
  /// A service, and its answers about the authors of a note.
  private struct Reader {
    let process: NotesProcess
    let id: String

    /// The authors of the lines of the note, from top to bottom.
    func lines() throws -> [String] {
      let uri = try #require(try process.request("notes/open", ["id": .string(id)])["uri"])
      let range: JSONValue = ["start": ["line": 0, "character": 0], "end": ["line": 9, "character": 0]]
      let spans = try process.request("notes/blame", ["uri": uri, "range": range])["spans"]?.arrayValue ?? []
      return spans.compactMap { $0["author"]?.stringValue }
    }

    func history() throws -> Set<String> {
      let rows = try process.request("notes/history", ["id": .string(id)])["changes"]?.arrayValue ?? []
      return Set(rows.compactMap { $0["author"]?.stringValue })
    }
  }

  @Test func whatIsForgedInTheNameOfAnAbsentAuthorIsShownAsUnverified() async throws {
    try await TestLoop.run { loop in
      let (ana, ben, carol) = (try NotesUser("Ana"), try NotesUser("Ben"), try NotesUser("Carol"))
      var anas = try ana.startInitialized()
      let place = try anas.request("notes/create", ["title": "Plans", "text": "from Ana\n"])
      let id = try #require(place["id"]?.stringValue)
      let ticket = try #require(
        try anas.request("notes/share", ["id": .string(id), "uses": 3])["ticket"]?.stringValue)
      let bens = try ben.startInitialized(), carols = try carol.startInitialized()
      for process in [bens, carols] { _ = try process.request("notes/join", ["ticket": .string(ticket)]) }

      // Carol writes a line and leaves at once, in order.
      let client = try ModelClient(carols, note: try carols.request("notes/open", ["id": .string(id)]))
      client.edit(0..<0, with: "from Carol\n")
      client.flush()
      let atAna = Reader(process: anas, id: id)
      try await eventually("Carol's line is at Ana's", on: loop) { (try? atAna.lines().count) == 2 }
      try carols.shutdown()
      try await eventually("Carol's signature is at Ana's", on: loop) {
        (try? atAna.lines()) == ["Carol", "Ana"]
      }

      // Eve passes on what Carol never wrote.
      let eve = try await PeerNetworkTests.Person.start("Eve", on: loop, storage: InMemoryStorage(), listen: nil)
      let handle = try await eve.open(ticket)
      let text = try #require(try handle.document.contentId())
      let own = handle.document.actor
      let carolsActor = try #require(try handle.document.blame(obj: text).first?.actor)
      handle.document.actor = carolsActor
      try handle.splice(0, "FORGED\n")
      handle.document.actor = own
      let host = try #require(eve.repo.peers.keys.first)
      try await eventually("Ana has what Eve made up", on: loop) { handle.inSync(with: host) }

      let forged = ["Carol (unverified)", "Carol", "Ana"]
      let atBen = Reader(process: bens, id: id)
      try await eventually("Ben has it, and the honest ones are verified there", on: loop) {
        (try? atBen.lines())?.map { $0.contains("unverified") } == [true, false, false]
      }
      #expect(try atAna.lines() == forged)
      #expect(try atAna.history().contains("Carol (unverified)"))
      // It stays so: with the forger gone, after a restart, and for a command.
      try await eve.stop()
      try anas.shutdown()
      let printed = try ana.run(["history", id]).output
      #expect(printed.contains("Carol (unverified)"), "\(printed)")
      #expect(!printed.contains("Ana (unverified)"), "\(printed)")
      anas = try ana.startInitialized()
      #expect(try Reader(process: anas, id: id).lines() == forged)
      // Carol is back and takes it from Ana: her earlier self is gone. It is not hers for that.
      let back = try carol.startInitialized()
      let atCarol = Reader(process: back, id: id)
      try await eventually("Carol has it", on: loop) { (try? atCarol.lines().count) == 3 }
      #expect(try atCarol.lines().first == "Carol (unverified)")
      #expect(try Reader(process: anas, id: id).lines() == forged)
      for process in [anas, bens, back] { try process.shutdown() }
    }
  }
}
