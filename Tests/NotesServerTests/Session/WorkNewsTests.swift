import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// The progress that a client without a plugin gets while a note is opened, or its changes arrive.
@AutomergeRepo struct WorkNewsTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 9)))
  private let path = "/notes/Shopping.md"
  private let uri = "file:///notes/Shopping.md"
  private static let plain: JSONValue = [
    "capabilities": ["window": ["workDoneProgress": true]], "initializationOptions": ["applyEdits": true],
  ]

  /// Ben's service, and the answers of his editor, which is not started yet.
  private func ben(refuses: Bool = false) -> ServiceUnderTest {
    let ben = ServiceUnderTest(world)
    ben.sharing.hostName = "Ana"
    ben.onMessage = { [unowned ben] message in
      guard message["method"] == "window/workDoneProgress/create", let id = message["id"] else { return }
      let error: JSONValue = ["code": -32601, "message": "Method not found"]
      let answer: JSONValue =
        refuses ? ["jsonrpc": "2.0", "id": id, "error": error] : ["jsonrpc": "2.0", "id": id, "result": nil]
      // Once the request is sent.
      Task { @AutomergeRepo in ben.send(answer) }
    }
    return ben
  }

  private func told(_ ben: ServiceUnderTest, _ kind: String) -> [JSONValue] {
    ben.sent.filter { $0["method"] == "$/progress" }.compactMap { $0["params"]?["value"] }
      .filter { $0["kind"] == .string(kind) }
  }

  private func hostedNote(_ text: String) throws -> DocHandle {
    let document = Document(textEncoding: .utf8)
    _ = try NoteDocument(new: document, title: "Shopping", text: Array(text.utf8), created: world.clock.date)
    document.commitWith(message: nil, timestamp: world.clock.date)
    return try world.start("host").create(document)
  }

  /// Ben's buffer of a note whose record is here, but not its document.
  private func waiting(_ client: JSONValue = plain, refuses: Bool = false) async throws -> ServiceUnderTest {
    let (note, ben) = (try hostedNote("tea\n"), ben(refuses: refuses))
    var record = NoteRecord(id: note.id, title: "Shopping", created: world.clock.date, modified: world.clock.date)
    record.path = path
    record.fileBase = TextBase(heads: note.document.heads(), steps: [])
    ben.files[path] = Array("tea\n".utf8)
    try await ben.service.notebook.storage.commit(ben.service.notebook.storing(record, withBase: true))
    try await ben.start(client: client)
    ben.open(uri, "tea\n")
    return ben
  }

  // MARK: Opening

  @Test func aNoteThatWaitsForItsHostIsSaidToBeOpeningUntilItIsOpen() async throws {
    let ben = try await waiting()
    try await ben.wait(for: "the beginning") { !told(ben, "begin").isEmpty }
    let begin: JSONValue = [
      "kind": "begin", "title": "Opening \"Shopping\"", "cancellable": false, "message": "waiting for Ana",
    ]
    #expect(told(ben, "begin") == [begin])
    #expect(told(ben, "end").isEmpty)
    world.connect("host", "ben")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    #expect(told(ben, "end") == [["kind": "end"]])
  }

  @Test func itEndsWhenTheBufferIsClosed() async throws {
    let ben = try await waiting()
    try await ben.wait(for: "the beginning") { !told(ben, "begin").isEmpty }
    ben.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    #expect(told(ben, "end").count == 1)
  }

  @Test func itEndsWhenTheFileIsReadAgainAndBeginsAnewIfThatTakesLong() async throws {
    let ben = try await waiting()
    try await ben.wait(for: "the beginning") { !told(ben, "begin").isEmpty }
    ben.open(uri, "tea\n")
    #expect(told(ben, "end").count == 1)
    try await ben.wait(for: "another beginning") { told(ben, "begin").count == 2 }
  }

  @Test func itEndsBeforeTheSessionDoes() async throws {
    let ben = try await waiting()
    try await ben.wait(for: "the beginning") { !told(ben, "begin").isEmpty }
    ben.send("shutdown", .null, id: 2)
    #expect(told(ben, "end").count == 1)
    try await ben.wait(for: "the answer") { ben.sent.contains { $0["id"] == 2 } }
    #expect(told(ben, "begin").count == 1)
  }

  @Test func itEndsWhenTheNoteCannotBeOpened() async throws {
    let ben = try await waiting()
    try await ben.wait(for: "the beginning") { !told(ben, "begin").isEmpty }
    let note = try #require(world.repos["host"]?.handles.first)
    try note.change { try $0.delete(obj: .ROOT, key: "content") }
    world.connect("host", "ben")
    try await ben.wait(for: "the end") { !told(ben, "end").isEmpty }
    #expect(ben.binding(uri) == nil)
  }

  @Test func aClientThatRefusesIsAskedOnce() async throws {
    let ben = try await waiting(refuses: true)
    let asked = { @AutomergeRepo in ben.sent.count { $0["method"] == "window/workDoneProgress/create" } }
    try await ben.wait(for: "the question") { asked() == 1 }
    ben.open(uri, "tea\n")
    try await ben.pass(.seconds(5))
    #expect(asked() == 1 && told(ben, "begin").isEmpty)
  }

  /// A client with a plugin shows events, and a client that does not offer progress must not be asked.
  @Test(
    arguments: [
      ["capabilities": ["window": ["workDoneProgress": true]], "initializationOptions": ["notes": ["protocol": 1]]],
      ["capabilities": ["window": [:]], "initializationOptions": ["applyEdits": true]],
    ] as [JSONValue])
  func otherClientsAreShownNoProgress(_ client: JSONValue) async throws {
    let ben = try await waiting(client)
    try await ben.pass(.seconds(5))
    #expect(!ben.sent.contains { ["window/workDoneProgress/create", "$/progress"].contains($0["method"]) })
    #expect(ben.sent.contains { ["window/showMessage", "notes/event"].contains($0["method"]) })
  }

  // MARK: Receiving

  @AutomergeRepo
  private final class Release {
    var isReleased = false
  }

  /// Ben's open note, of which a part is here while the rest is held up on the way.
  private func receiving(until release: Release = Release()) async throws -> (ServiceUnderTest, DocHandle) {
    let note = try hostedNote("tea\n")
    var random = SeededGenerator(seed: 5)
    for _ in 0..<20 {
      let text = String(decoding: (0..<150_000).map { _ in UInt8.random(in: 33...122, using: &random) }, as: UTF8.self)
      try note.change { document in
        let content = try #require(NoteDocument(document)).content
        try document.spliceText(obj: content, start: 0, delete: 0, value: text)
      }
    }
    let ben = ben()
    try await ben.start(client: Self.plain)
    let host = PeerId("host")
    world.network.isHeldUntil = { [clock = world.clock, repo = ben.service.repo] from, _ in
      guard from == host, let percent = repo.handle(of: note.id)?.percentReceived(from: host), percent > 20 else {
        return nil
      }
      return release.isReleased ? nil : clock.now + .milliseconds(100)
    }
    let person = PersonSummary(peer: host, name: "Ana\u{202E}\n", access: .write, isConnected: true)
    ben.sharing.readers[note.id] = [person]
    world.connect("host", "ben")
    let opened = try await ben.request("notes/open", ["id": .string(note.id.description)])
    let file = try #require(opened["path"]?.stringValue)
    ben.open(uri, String(decoding: try #require(ben.files[file]), as: UTF8.self))
    try await ben.wait(for: "the beginning") { !told(ben, "begin").isEmpty }
    return (ben, note)
  }

  @Test func whileANotesChangesArriveItIsSaidFromWhomAndHowManyAreHere() async throws {
    let release = Release()
    let (ben, note) = try await receiving(until: release)
    let begin = try #require(told(ben, "begin").first)
    #expect(begin["title"] == "Receiving \"Shopping\"" && begin["message"] == "from Ana ")
    #expect((20..<100).contains(begin["percentage"]?.intValue ?? -1))
    #expect(told(ben, "end").isEmpty)
    release.isReleased = true
    try await ben.wait(for: "the end") { !told(ben, "end").isEmpty }
    #expect(ben.service.repo.handle(of: note.id)?.inSync(with: PeerId("host")) == true)
    let percents = (told(ben, "begin") + told(ben, "report")).compactMap { $0["percentage"]?.intValue }
    #expect(percents == percents.sorted())
    // A person's typing does not count as work that takes a while.
    let count = ben.sent.count
    try note.change { document in
      let content = try #require(NoteDocument(document)).content
      try document.spliceText(obj: content, start: 0, delete: 0, value: "milk\n")
    }
    try await ben.wait(for: "the word") { ben.text(of: note.id)?.hasPrefix("milk") == true }
    try await ben.pass(.seconds(2))
    #expect(!ben.sent[count...].contains { $0["method"] == "$/progress" })
  }

  @Test func receivingEndsWithTheLink() async throws {
    let (ben, _) = try await receiving()
    world.disconnect("host", "ben")
    try await ben.wait(for: "the end") { !told(ben, "end").isEmpty }
  }

  @Test func receivingEndsWithTheBuffer() async throws {
    let (ben, _) = try await receiving()
    ben.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    #expect(told(ben, "end").count == 1)
    try await ben.pass(.seconds(2))
    #expect(told(ben, "begin").count == 1)
  }
}
