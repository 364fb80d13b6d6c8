import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import NotesHarness
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork

/// A service with a note open in an editor, a guest with write access, and one who may only read and claims to be
/// another.
@Suite(.serialized, .enabled(if: NotesBinary.path != nil, "needs notes-lsp, built or named by NOTES_LSP_BINARY"))
struct ForgedPresenceTests {}

extension ForgedPresenceTests {
  @AutomergeRepo
  private final class Room {
    let loop: Loop
    let process: NotesProcess
    let client: ModelClient
    let ben: Person
    let mallory: Person
    let bensNote: DocHandle
    let mallorysNote: DocHandle
    let host: PeerId
    private(set) var heardByMallory: [RepoMessage.EphemeralMessage] = []

    init(_ loop: Loop) async throws {
      self.loop = loop
      let user = try NotesUser("Ana")
      let process = try user.startInitialized()
      let client = try ModelClient(process, note: process.request("notes/create", ["title": "Own", "text": "mine\n"]))
      (self.process, self.client) = (process, client)
      func ticket(_ access: String) throws -> String {
        let shared = try process.request("notes/share", ["id": .string(client.id), "access": .string(access)])
        return try #require(shared["ticket"]?.stringValue)
      }
      let (write, read) = (try ticket("write"), try ticket("read"))
      ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage(), listen: nil)
      mallory = try await Person.start("Mallory", on: loop, storage: InMemoryStorage(), listen: nil)
      bensNote = try await ben.open(write)
      mallorysNote = try await mallory.open(read)
      host = try #require(ben.repo.peers.keys.first)
      mallorysNote.observe { [weak self] event in
        if case .ephemeral(let message, _) = event { self?.heardByMallory.append(message) }
      }
    }

    /// What is said of a caret at a place in the text.
    func update(name: String, at place: Int, in handle: DocHandle) throws -> Data {
      let text = try #require(try handle.document.contentId())
      let cursor = try handle.document.cursor(obj: text, utf8Offset: place).bytes
      let value = CBOR.record([
        "name": .text(name), "ranges": .array([.array([.bytes(Data(cursor)), .bytes(Data(cursor))])]),
      ])
      return presence(["type": "update", "channel": "notes", "value": value])
    }

    func presence(_ content: KeyValuePairs<String, CBOR?>) -> Data {
      Data(CBOR.record(["__presence": .record(content)]).encoded())
    }

    /// Mallory says something in whatever name.
    func forge(as author: PeerId, session: String, count: UInt64, _ data: Data) {
      mallory.provider.send(
        .ephemeral(
          .init(
            senderId: author, targetId: host, documentId: mallorysNote.id, count: count, sessionId: session, data: data)
        ), to: host)
    }

    func waitFor(_ what: String, _ condition: () -> Bool) async throws {
      try await eventually(what, on: loop) {
        try? process.collect()
        return condition()
      }
    }

    /// Where the editor shows a person's caret: the character in the first line.
    func place(of name: String) -> Int? {
      let person = client.peers.first { $0["name"]?.stringValue == name }
      return person?["ranges"]?.arrayValue?.first?["end"]?["character"]?.intValue
    }

    var news: [String] {
      process.messages.filter { $0["method"]?.stringValue == "notes/event" }
        .compactMap { $0["params"]?["message"]?.stringValue }
    }

    /// How often the editor was told that a person has opened the note, in words or, soon after other news of them, without.
    func arrivals(of name: String) -> Int {
      process.messages.count {
        $0["method"]?.stringValue == "notes/event" && $0["params"]?["kind"]?.stringValue == "joined"
          && $0["params"]?["name"]?.stringValue == name
      }
    }

    func stop() async throws {
      try await ben.stop()
      try await mallory.stop()
      try process.shutdown()
    }
  }

  @Test func aReadGuestSpeaksForItselfAloneAndSilencesNoOther() async throws {
    try await TestLoop.run { loop in
      let room = try await Room(loop)
      room.bensNote.broadcast(try room.update(name: "Ben", at: 1, in: room.bensNote))
      try await room.waitFor("Ben is shown") { room.place(of: "Ben") == 1 }
      try await room.waitFor("the host passes it on") { !room.heardByMallory.isEmpty }
      let bens = try #require(room.heardByMallory.last)

      let forged = try room.update(name: "BANK", at: 3, in: room.mallorysNote)
      room.forge(as: bens.senderId, session: bens.sessionId, count: bens.count + 1, forged)
      room.forge(as: bens.senderId, session: bens.sessionId, count: .max, forged)
      room.forge(as: PeerId("\(bens.senderId)/1"), session: "x", count: 1, forged)
      room.forge(as: room.host, session: bens.sessionId, count: .max, forged)
      room.forge(as: PeerId("\(room.host)/1"), session: "y", count: 1, forged)
      room.forge(as: PeerId("nobody"), session: "z", count: 1, forged)
      // For itself it may speak, under its own name, whatever it says.
      room.mallorysNote.broadcast(try room.update(name: "Ben", at: 2, in: room.mallorysNote))
      try await room.waitFor("Mallory is shown") { room.place(of: "Mallory") == 2 }
      #expect(room.client.peers.count == 2 && room.place(of: "Ben") == 1, "\(room.client.peers)")

      // And Ben is heard as before.
      room.bensNote.broadcast(try room.update(name: "Ben", at: 4, in: room.bensNote))
      try await room.waitFor("Ben's caret moves") { room.place(of: "Ben") == 4 }
      #expect(!room.process.messages.description.contains("BANK"))
      try await room.stop()
    }
  }

  @Test func aPeerThatComesAndGoesWithoutEndIsAnnouncedAFewTimes() async throws {
    try await TestLoop.run { loop in
      let room = try await Room(loop)
      let here = try room.update(name: "Mallory", at: 1, in: room.mallorysNote)
      let gone = room.presence(["type": "goodbye"])
      for _ in 0..<800 {
        room.mallorysNote.broadcast(here)
        room.mallorysNote.broadcast(gone)
      }
      // What Ben says comes after all of it.
      room.bensNote.broadcast(try room.update(name: "Ben", at: 1, in: room.bensNote))
      try await room.waitFor("Ben is shown") { room.place(of: "Ben") == 1 }
      let mallorys = room.news.count { $0.contains("Mallory opened") || $0.contains("Mallory closed") }
      #expect(mallorys > 0 && mallorys <= 12, "\(mallorys)")
      #expect(room.arrivals(of: "Ben") == 1, "he is announced all the same")
      try await room.stop()
    }
  }
}
