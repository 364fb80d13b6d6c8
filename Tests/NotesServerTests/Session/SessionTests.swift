import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// The beginning and the end of a session, and the messages that it accepts in between.
@AutomergeRepo struct SessionTests {
  private let ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 11))), "ana")

  private func answer(_ id: Int) -> JSONValue? { ana.sent.first { $0["id"]?.intValue == id } }

  private func errorCode(_ id: Int) -> Int? { answer(id)?["error"]?["code"]?.intValue }

  @Test func aRequestBeforeInitializeIsRefused() async throws {
    try await ana.service.load()
    ana.session.serviceIsLoaded()
    ana.send("notes/list", [:], id: 1)
    #expect(errorCode(1) == ErrorCode.serverNotInitialized.rawValue)
    #expect(ana.session.phase == .fresh)
  }

  @Test func initializeIsAnsweredBeforeTheNotesAreRead() {
    ana.send("initialize", [:], id: 1)
    #expect(answer(1)?["result"] != nil)
    #expect(ana.session.phase == .running)
  }

  @Test func whatComesBeforeTheNotesAreReadIsHandledAfterwardsInOrder() async throws {
    ana.send("initialize", ["initializationOptions": ["notes": ["protocol": 1]]], id: 1)
    ana.open("file:///notes/plain.txt", "one\n")
    ana.change("file:///notes/plain.txt", "two\n", version: 2)
    #expect(ana.session.editor.buffers["file:///notes/plain.txt"] == nil)
    try await ana.service.load()
    ana.session.serviceIsLoaded()
    guard case .plain(let buffer)? = ana.session.editor.buffers["file:///notes/plain.txt"] else {
      Issue.record("the buffer is not there")
      return
    }
    #expect(String(decoding: buffer.text, as: UTF8.self) == "two\n")
    #expect(buffer.version == 2)
  }

  @Test func aSecondInitializeIsRefused() async throws {
    try await ana.start()
    ana.send("initialize", [:], id: 2)
    #expect(errorCode(2) == ErrorCode.invalidRequest.rawValue)
  }

  @Test func afterShutdownOnlyExitIsTaken() async throws {
    try await ana.start()
    var code: Int32?
    ana.session.onEnd = { code = $0 }
    ana.send("shutdown", [:], id: 2)
    ana.send("notes/list", [:], id: 3)
    #expect(errorCode(3) == ErrorCode.invalidRequest.rawValue)
    ana.send("exit", [:])
    try await ana.wait(for: "the end") { code != nil }
    #expect(code == 0)
    #expect(answer(2)?["result"] == .null)
  }

  @Test func whatAPeerSendsAfterEverythingWasStoredIsNotConfirmedToIt() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 12)))
    let document = Document(textEncoding: .utf8)
    _ = try NoteDocument(new: document, title: "List", text: Array("milk\n".utf8), created: world.clock.date)
    document.commitWith(message: nil, timestamp: world.clock.date)
    let note = try world.start("host").create(document)
    let ben = ServiceUnderTest(world)
    try await ben.start()
    world.connect("host", "ben")
    _ = try await ben.request("notes/open", ["id": .string(note.id.description)])
    try await ben.wait(for: "equal documents") { note.inSync(with: PeerId("ben")) }
    ben.send("shutdown", [:], id: 9)
    try await ben.wait(for: "the answer") { ben.sent.contains { $0["id"]?.intValue == 9 } }
    try note.change { document in
      let text = try #require(NoteDocument(document)).content
      try document.spliceText(obj: text, start: 0, delete: 0, value: "oat ")
    }
    world.clock.advance(by: .seconds(2))
    let stored = try #require(ben.service.repo.handle(of: note.id))
    #expect(stored.document.heads() != note.document.heads())
    #expect(!note.inSync(with: PeerId("ben")))
  }

  @Test func theEndOfInputWithoutShutdownIsAFailure() async throws {
    try await ana.start()
    var code: Int32?
    ana.session.onEnd = { code = $0 }
    ana.session.inputEnded()
    try await ana.wait(for: "the end") { code != nil }
    #expect(code == 1)
    #expect(ana.session.hasEnded)
  }

  @Test func anEditorThatHasGoneIsStillEndedOnceTheNotesAreRead() async throws {
    var code: Int32?
    ana.session.onEnd = { code = $0 }
    ana.send("initialize", [:], id: 1)
    ana.session.inputEnded()
    #expect(!ana.session.hasEnded)
    try await ana.service.load()
    ana.session.serviceIsLoaded()
    try await ana.wait(for: "the end") { code != nil }
    #expect(code == 1)
  }
}
