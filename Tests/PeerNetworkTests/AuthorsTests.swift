import Automerge
import Foundation
import JSONRPC
import NotesHarness
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import AutomergeRepo
@testable import PeerNetwork
@testable import PeerTransport

/// Which author a change counts as, between real services and over real links. A stage of its own: an author that is
/// held up by other tests for more than a second counts as absent.
@Suite(.serialized, .enabled(if: NotesBinary.path != nil, "needs notes-lsp, built or named by NOTES_LSP_BINARY"))
struct AuthorsTests {}

extension AuthorsTests {
  /// A note in a service, open in an editor.
  private struct Host {
    let user: NotesUser
    let process: NotesProcess
    let client: ModelClient

    init() throws {
      user = try NotesUser("Ana")
      process = try user.startInitialized()
      client = try ModelClient(process, note: process.request("notes/create", ["title": "Plans", "text": "one\n"]))
    }

    func ticket(uses: Int) throws -> String {
      let shared = try process.request("notes/share", ["id": .string(client.id), "uses": .int(Int64(uses))])
      return try #require(shared["ticket"]?.stringValue)
    }
  }

  /// A guest in this process, which has joined a note and writes as an actor of its own.
  @AutomergeRepo
  private final class Guest {
    let person: Person
    let handle: DocHandle
    let host: PeerId

    init(_ name: String, _ ticket: String, _ loop: Loop) async throws {
      person = try await Person.start(name, on: loop, storage: InMemoryStorage())
      handle = try await person.open(ticket)
      host = try #require(person.repo.peers.keys.first)
      handle.document.actor = try Guest.actor(of: person.peerId)
    }

    static func actor(of peer: PeerId) throws -> ActorId {
      let fingerprint = try #require(Identity.fingerprint(of: peer))
      return try #require(
        ActorId(data: Data(fingerprint.prefix(Identity.personByteCount)) + Data(ActorId().data.suffix(8))))
    }
  }

  @Test func allProcessesOfAPersonAreNamedAsItsAuthors() async throws {
    let host = try Host()
    let second = try host.user.startInitialized()
    let client = try ModelClient(second, note: second.request("notes/open", ["id": .string(host.client.id)]))
    client.edit(0..<0, with: "second ")
    client.flush()
    try NotesProcess.wait(for: "both are equal", of: [host.process, second]) {
      host.client.text.string == "second one\n"
    }
    let ticket = try host.ticket(uses: 1)
    let guest = try await TestLoop.run { loop in
      let guest = try await Guest("Ben", ticket, loop)
      try await eventually("two processes are named", on: loop) {
        guest.handle.sync.authorship.actors(of: guest.host).count == 2
      }
      let prefix = Identity.fingerprint(of: guest.host)?.prefix(Identity.personByteCount) ?? []
      for actor in guest.handle.sync.authorship.actors(of: guest.host) {
        #expect(actor.data.starts(with: prefix))
      }
      return guest
    }
    try second.shutdown()
    try await TestLoop.run { loop in
      try await eventually("one is left", on: loop) {
        guest.handle.sync.authorship.actors(of: guest.host).count == 1
      }
      try await guest.person.stop()
    }
    try host.process.shutdown()
  }

  /// Carol is linked to the host; Mallory, who may write too, makes up a change in her name.
  @Test func changesForgedInAnotherNameAreNotTakenAndTheEditorIsTold() async throws {
    let host = try Host()
    let ticket = try host.ticket(uses: 2)
    let (carol, mallory) = try await TestLoop.run { loop in
      let carol = try await Guest("Carol", ticket, loop)
      let mallory = try await Guest("Mallory", ticket, loop)
      try carol.handle.splice(0, "carol ")
      try await eventually("all have it", on: loop) {
        carol.handle.inSync(with: carol.host) && mallory.handle.inSync(with: mallory.host)
          && carol.handle.document.heads() == mallory.handle.document.heads()
      }
      let document = mallory.handle.document
      let own = document.actor
      document.actor = carol.handle.document.actor
      try mallory.handle.splice(0, "FORGED ")
      document.actor = own
      return (carol, mallory)
    }
    try host.process.waitFor("the event") {
      host.process.messages.contains { $0["params"]?["kind"] == "forged" }
    }
    let event = try #require(host.process.messages.first { $0["params"]?["kind"] == "forged" }?["params"])
    #expect(event["name"] == "Mallory")
    #expect(event["message"]?.stringValue?.contains("Carol") == true)
    let status = try host.process.request("notes/status", ["uri": .string(host.client.uri)])
    let peers = status["peers"]?.arrayValue ?? []
    #expect(peers.first { $0["name"] == "Mallory" }?["forges"] == true)
    #expect(peers.first { $0["name"] == "Carol" }?["forges"] == nil)
    // Carol and the host go on.
    try await TestLoop.run { _ in try carol.handle.splice(0, "again ") }
    host.client.edit(0..<0, with: "host ")
    host.client.flush()
    try host.process.waitFor("what Carol wrote") { host.client.text.string.contains("again ") }
    #expect(!host.client.text.string.contains("FORGED"))
    try await TestLoop.run { loop in
      try await eventually("what the host wrote", on: loop) {
        (try? carol.handle.document.content())?.contains("host ") == true
      }
      #expect(try carol.handle.document.content()?.contains("FORGED") == false)
      for guest in [carol, mallory] { try await guest.person.stop() }
    }
    #expect(host.client.complaints == [])
    try host.process.shutdown()
  }
}
