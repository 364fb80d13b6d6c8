import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import NotesHarness
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// A person who may write in a note may write other names into its list of people.
@Suite(.serialized, .enabled(if: NotesBinary.path != nil, "needs notes-lsp, built or named by NOTES_LSP_BINARY"))
struct SwappedNamesTests {}

extension SwappedNamesTests {
  /// Writes a name for an author, given by the first half of its actor id.
  private static func enter(_ name: String, for person: String, in document: Document) throws {
    let people: ObjId
    if case .Object(let object, .Map)? = try document.get(obj: .ROOT, key: "people") {
      people = object
    } else {
      people = try document.putObject(obj: .ROOT, key: "people", ty: .Map)
    }
    let entry = try document.putObject(obj: people, key: person, ty: .Map)
    try document.put(obj: entry, key: "name", value: .String(name))
  }

  private static func person(_ peer: PeerId) -> String {
    (Identity.author(of: peer) ?? []).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test func swappedNamesDeceiveNeitherHistoryNorBlameNorDiff() async throws {
    try await TestLoop.run { loop in
      let user = try NotesUser("Ana")
      let process = try user.startInitialized()
      let place = try process.request("notes/create", ["title": "Plans", "text": "from Ana\n"])
      let (id, uri) = (try #require(place["id"]), try #require(place["uri"]))
      let ticket = try #require(try process.request("notes/share", ["id": id, "uses": 2])["ticket"]?.stringValue)
      let own = try #require(try process.request("notes/peers", [:])["self"]?["peer"]?.stringValue)

      // Ben writes; Eve, who may write too, swaps his name and Ana's, and makes up a third.
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage(), listen: nil)
      let eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage(), listen: nil)
      let host = PeerId(own)
      let (benHandle, eveHandle) = (try await ben.open(ticket), try await eve.open(ticket))
      // As their services would write.
      for (handle, person) in [(benHandle, ben), (eveHandle, eve)] {
        let author = try #require(Identity.author(of: person.peerId))
        handle.document.actor = try #require(ActorId(data: Data(author + [UInt8](repeating: 1, count: 8))))
      }
      try benHandle.splice(0, "from Ben\n")
      try await eventually("Ana has Ben's line", on: loop) { benHandle.inSync(with: host) }
      try await eventually("Eve has it", on: loop) {
        (try? eveHandle.document.content())?.contains("from Ben") ?? false
      }
      try eveHandle.change { document in
        try Self.enter("Ana", for: Self.person(ben.peerId), in: document)
        try Self.enter("Ben", for: Self.person(host), in: document)
        try Self.enter("Ana\u{202E} (really)\n", for: Self.person(eve.peerId), in: document)
        let text = try #require(try document.contentId())
        try document.spliceText(obj: text, start: 0, delete: 0, value: "from Eve\n")
      }
      try await eventually("Ana has what Eve did", on: loop) { eveHandle.inSync(with: host) }
      // They sign what they wrote.
      try await ben.repo.flush()
      try await eve.repo.flush()

      let range: JSONValue = ["start": ["line": 0, "character": 0], "end": ["line": 3, "character": 0]]
      func authors() throws -> (history: Set<String>, blame: [String], diff: Set<String>) {
        let rows = try process.request("notes/history", ["id": id])["changes"]?.arrayValue ?? []
        let spans = try process.request("notes/blame", ["uri": uri, "range": range])["spans"]?.arrayValue ?? []
        let first = try #require(rows.last?["heads"])
        let hunks = try process.request("notes/diff", ["id": id, "from": first])["hunks"]?.arrayValue ?? []
        return (
          Set(rows.compactMap { $0["author"]?.stringValue }), spans.compactMap { $0["author"]?.stringValue },
          Set(hunks.compactMap { $0["author"]?.stringValue })
        )
      }
      try await eventually("Ana has their signatures", on: loop) {
        (try? authors().history.contains { $0.contains("unverified") }) == false
      }
      let seen = try authors()
      #expect(seen.history == ["Ana", "Ben", "Eve"])
      #expect(seen.blame == ["Eve", "Ben", "Ana"])
      #expect(seen.diff.isSubset(of: ["Eve", "Ben"]), "\(seen.diff)")
      // The command has no network, and knows them from the store.
      try process.shutdown()
      let id8 = try #require(id.stringValue)
      let printed = try user.run(["history", id8]).output
      #expect(
        printed.contains("Ben") && printed.contains("Eve") && !printed.contains("claimed")
          && !printed.contains("unverified"), "\(printed)")

      // An author whom Ana has never met, in a document that came from elsewhere: the name is only what the document says.
      let stranger = Document()
      stranger.actor = try #require(ActorId(data: Data([0xA1] + [UInt8](repeating: 7, count: 15))))
      let text = try stranger.putObject(obj: .ROOT, key: "content", ty: .Text)
      try stranger.spliceText(obj: text, start: 0, delete: 0, value: "from nowhere\n")
      try Self.enter("Ben", for: "a107070707070707", in: stranger)
      let path = user.directory.file("Elsewhere.automerge")
      try stranger.save().write(to: URL(fileURLWithPath: path))
      let again = try user.startInitialized()
      let imported = try again.request("notes/import", ["path": .string(path)])
      let rows = try again.request("notes/history", ["id": try #require(imported["id"])])["changes"]?.arrayValue ?? []
      let claimed = rows.compactMap { $0["author"]?.stringValue }
      #expect(claimed.contains("Ben (claimed, unverified)"), "\(rows)")
      try again.shutdown()
      try await ben.stop()
      try await eve.stop()
    }
  }
}
