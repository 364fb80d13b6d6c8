import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import Synchronization
import TestSupport
import Testing

@testable import NotesServer

/// A buffer never stays a plain file if there is a note at its path, or will be one.
@AutomergeRepo struct LateNoteTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 5)))
  private let path = "/notes/Shopping.md"
  private let uri = "file:///notes/Shopping.md"

  private func hostedNote(_ text: String) throws -> DocHandle {
    let host = world.start("host")
    let document = Document(textEncoding: .utf8)
    _ = try NoteDocument(new: document, title: "Shopping", text: Array(text.utf8), created: world.clock.date)
    document.commitWith(message: nil, timestamp: world.clock.date)
    return try host.create(document)
  }

  /// The store has the note's record and file, but not its document: a service was killed before it had stored that.
  private func leaveRecord(of note: DocHandle, _ text: String, for ben: ServiceUnderTest) async throws {
    var record = NoteRecord(id: note.id, title: "Shopping", created: world.clock.date, modified: world.clock.date)
    record.path = path
    record.fileBase = TextBase(heads: note.document.heads(), steps: [])
    ben.files[path] = Array(text.utf8)
    let storage = ben.service.notebook.storage
    try await storage.commit(ben.service.notebook.storing(record, withBase: true))
  }

  @Test func documentAndRecordAreStoredBeforeTheFileIsThere() async throws {
    let note = try hostedNote("tea\n")
    let ben = ServiceUnderTest(world)
    try await ben.start()
    world.connect("host", "ben")
    let isKnown = Mutex<[Bool]>([])
    ben.files.onCreate.withLock {
      $0 = { [service = ben.service, id = note.id] path in
        let isListed = await service.notebook.record(atPath: path)?.id == id
        let record = try? await service.notebook.stored(NoteKey(id))
        let chunks = try? await service.notebook.storage.loadRange([id.description])
        let isStored = record?.path == path && chunks?.isEmpty == false
        isKnown.withLock { $0.append(isListed && isStored) }
      }
    }
    _ = try await ben.request("notes/open", ["id": .string(note.id.description)])
    #expect(isKnown.withLock { $0 } == [true])
    #expect(ben.files[path] == Array("tea\n".utf8))
  }

  /// A service is on the network before it has read the records of its notes.
  @Test func whatAPeerBringsBeforeTheRecordsAreReadReachesTheFile() async throws {
    let note = try hostedNote("tea\n")
    let first = ServiceUnderTest(world)
    try await first.start()
    world.connect("host", "ben")
    _ = try await first.request("notes/open", ["id": .string(note.id.description)])
    try await first.pass(.seconds(5))
    world.crash("ben")
    let content = try #require(NoteDocument(note.document)).content
    try note.change { try $0.spliceText(obj: content, start: 0, delete: 0, value: "milk\n") }
    let next = ServiceUnderTest(world, files: first.files)
    world.connect("host", "ben")
    try await next.wait(for: "the host's line") { next.text(of: note.id) == "milk\ntea\n" }
    try await next.start()
    try await next.wait(for: "the file") { next.files[path] == Array("milk\ntea\n".utf8) }
  }

  /// The link on which the host accepted ends before the text has arrived.
  @Test func aJoinWaitsForTheNextLinkToTheHost() async throws {
    let note = try hostedNote("tea\n")
    let ben = ServiceUnderTest(world)
    try await ben.start()
    (ben.sharing.hostName, ben.sharing.granted) = ("Ana", note.id)
    world.clock.schedule(after: .seconds(5)) { [world] in world.connect("host", "ben") }
    let joined = try await ben.request("notes/join", ["ticket": "notes-lsp:ticket"])
    #expect(joined["path"]?.stringValue == path)
    #expect(ben.text(of: note.id) == "tea\n")
  }

  @Test func aJoinEndsWhenTheHostStaysAway() async throws {
    let note = try hostedNote("tea\n")
    let ben = ServiceUnderTest(world)
    try await ben.start()
    (ben.sharing.hostName, ben.sharing.granted) = ("Ana", note.id)
    await #expect(throws: ResponseError.self) {
      try await ben.request("notes/join", ["ticket": "notes-lsp:ticket"])
    }
  }

  @Test func aNameThatAnotherProgramTakesMeanwhileIsLeftToIt() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    ben.files.onCreate.withLock {
      $0 = { [files = ben.files, path] made in if made == path { files[path] = Array("theirs\n".utf8) } }
    }
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "mine\n"])
    #expect(made["path"] == "/notes/Shopping 2.md")
    #expect(ben.files[path] == Array("theirs\n".utf8))
    #expect(ben.service.notebook.record(atPath: path) == nil)
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    #expect(try await ben.service.notebook.stored(NoteKey(id))?.path == "/notes/Shopping 2.md")
  }

  /// The record exists before the file, so the buffer may be opened before the file is made or after.
  @Test(arguments: [true, false]) func aPlainBufferIsTheNoteThatItsFileBecomes(isBefore: Bool) async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    if isBefore {
      ben.files.onCreate.withLock {
        $0 = { [uri] _ in while await ben.binding(uri) == nil { await Task.yield() } }
      }
    }
    ben.open(uri, "")
    ben.change(uri, "mine\n", version: 2)
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    #expect(made["path"]?.stringValue == path)
    try await ben.wait(for: "the buffer to be the note") { ben.binding(uri) != nil }
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let text = try #require(ben.text(of: id))
    #expect(text.contains("mine\n") && text.contains("tea\n"))
    ben.change(uri, "milk " + text, version: 3)
    #expect(ben.events("created").first?["path"]?.stringValue == path)
  }

  @Test func whatWasDeletedInAPlainBufferIsDeletedInTheNote() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    ben.files[path] = Array("tea\nmilk\n".utf8)
    ben.open(uri, "tea\nmilk\n")
    ben.change(uri, "milk\nrye\n", version: 2)
    // Another process adopts the file: the record appears without a request of this editor.
    let handle = try NoteMaker(service: ben.service).document(title: "Shopping", text: Array("tea\nmilk\n".utf8))
    var record = NoteRecord(id: handle.id, title: "Shopping", created: world.clock.date, modified: world.clock.date)
    record.path = path
    record.fileBase = TextBase(heads: handle.document.heads(), steps: [])
    ben.service.notebook.remember(record)
    try await ben.wait(for: "the buffer to be the note") { ben.binding(uri) != nil }
    #expect(ben.text(of: handle.id) == "milk\nrye\n")
  }

  @Test func anEditorHearsOfTheFileOfAnItem() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let meeting = try await ben.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    let item = try await ben.request("notes/addItem", ["id": meeting["id"] ?? .null, "title": "Drinks"])
    let news = ben.events("created").filter { $0["item"] == item["item"] }
    #expect(news.map { $0["path"] } == [item["path"]])
    #expect(news.first?["id"] == meeting["id"])
  }

  @Test func aBufferWaitsForANoteThatIsNotHere() async throws {
    let note = try hostedNote("tea\n")
    let ben = ServiceUnderTest(world)
    ben.sharing.hostName = "Ana"
    try await leaveRecord(of: note, "tea\n", for: ben)
    try await ben.start()
    ben.open(uri, "tea\nmine\n", reattach: true)
    try await ben.wait(for: "the news") { !ben.events("waiting").isEmpty }
    #expect(ben.events("waiting").first?["message"] == "Waiting for Ana to send \"Shopping\"; typing is kept")
    #expect(try await ben.request("notes/status", ["uri": .string(uri)])["waiting"] == "Ana")
    #expect(try await ben.request("notes/status", ["uri": .string(uri)])["stored"] == false)
    ben.change(uri, "tea\nmine\nmilk\n", version: 2)
    // No peer connects for a long time.
    world.clock.advance(by: .seconds(300))
    for _ in 0..<20 { await Task.yield() }
    try note.change { document in
      let text = try #require(NoteDocument(document))
      try document.spliceText(obj: text.content, utf8Offset: 0, deleteUTF8: 0, insert: Array("rye\n".utf8))
    }
    world.connect("host", "ben")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    let text = { @AutomergeRepo in
      NoteDocument(note.document).map { String(decoding: DocumentText($0).allUTF8, as: UTF8.self) }
    }
    try await ben.wait(for: "Ben's words at the host") { text()?.contains("milk") == true }
    #expect(text() == "rye\ntea\nmine\nmilk\n")
    #expect(ben.events("waiting").count == 1)
    #expect(try await ben.request("notes/status", ["uri": .string(uri)])["waiting"] == nil)
  }

  @Test func whatWasTypedIsKeptIfTheEditorGoesBeforeTheNoteArrives() async throws {
    let note = try hostedNote("tea\n")
    let ben = ServiceUnderTest(world)
    try await leaveRecord(of: note, "tea\n", for: ben)
    try await ben.start()
    ben.open(uri, "tea\n", reattach: true)
    try await ben.wait(for: "the news") { !ben.events("waiting").isEmpty }
    ben.change(uri, "tea\nmilk\n", version: 2)
    ben.send("shutdown", .null, id: 2)
    try await ben.wait(for: "the answer") { ben.sent.contains { $0["id"] == 2 } }
    #expect(try await ben.recoveredTexts() == ["tea\nmilk\n"])
  }

  @Test func aTextThatItsFileHasIsKeptOnceOnly() async throws {
    let note = try hostedNote("tea\n")
    let ben = ServiceUnderTest(world)
    try await leaveRecord(of: note, "tea\n", for: ben)
    try await ben.start()
    ben.open(uri, "tea\n", reattach: true)
    try await ben.wait(for: "the news") { !ben.events("waiting").isEmpty }
    ben.send("shutdown", .null, id: 2)
    try await ben.wait(for: "the answer") { ben.sent.contains { $0["id"] == 2 } }
    #expect(try await ben.recoveredTexts().isEmpty)
  }

  @Test func aFileThatIsReadAgainMeanwhileTakesNoWordAway() async throws {
    let note = try hostedNote("tea\n")
    let ben = ServiceUnderTest(world)
    try await leaveRecord(of: note, "tea\n", for: ben)
    try await ben.start()
    ben.open(uri, "tea\n", reattach: true)
    ben.change(uri, "tea\nmilk\n", version: 2)
    ben.open(uri, "tea\n")
    try await ben.wait(for: "the news of the copy") { !ben.events("recovered").isEmpty }
    #expect(try await ben.recoveredTexts() == ["tea\nmilk\n"])
  }

  /// The buffer has outlived a service, so no file may have its words.
  @Test func aBufferThatHasOutlivedAServiceLosesNoWordIfTheFileIsReadAgainMeanwhile() async throws {
    let note = try hostedNote("tea\n")
    let ben = ServiceUnderTest(world)
    try await leaveRecord(of: note, "tea\n", for: ben)
    try await ben.start()
    ben.open(uri, "tea\nmilk\n", reattach: true)
    ben.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    ben.open(uri, "tea\n")
    try await ben.wait(for: "the news of the copy") { !ben.events("recovered").isEmpty }
    #expect(try await ben.recoveredTexts() == ["tea\nmilk\n"])
  }

  /// Ben's service, with a buffer that waits for a note that has not arrived.
  private func waiting(
    for note: DocHandle, with text: String, journal: any JournalAccess
  ) async throws -> ServiceUnderTest {
    let ben = ServiceUnderTest(world, journal: journal)
    try await leaveRecord(of: note, "tea\n", for: ben)
    try await ben.start()
    ben.open(uri, text, reattach: true)
    try await ben.wait(for: "the news") { !ben.events("waiting").isEmpty }
    return ben
  }

  /// The meeting itself has no file.
  @Test func whatHappensToAMeetingIsToldInTheBufferOfAnItemThatHasNotArrived() async throws {
    let meeting = try hostedNote("tea\n").id
    let ben = ServiceUnderTest(world)
    let date = world.clock.date
    let item = NoteRecord(id: meeting, item: "drinks", title: "Drinks", created: date, modified: date, path: path)
    ben.files[path] = Array("tea\n".utf8)
    try await ben.service.notebook.storage.commit(ben.service.notebook.storing(item, withBase: true))
    try await ben.start()
    ben.open(uri, "tea\n", reattach: true)
    try await ben.wait(for: "the news") { !ben.events("waiting").isEmpty }
    ben.sharing.onChange?(.unshared(ben.service.repo.peerId, name: "Ana", meeting))
    #expect(ben.events("unshared").map { $0["uri"]?.stringValue } == [uri])
  }

  @Test func aBufferThatIsClosedBeforeItsNoteArrivesIsMergedLaterAndTheJournalHasItUntilThen() async throws {
    let (note, log) = (try hostedNote("tea\n"), WrittenJournal())
    let ben = try await waiting(for: note, with: "tea\nmine\n", journal: log)
    ben.change(uri, "tea\nmine\nmilk\n", version: 2)
    ben.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    let key = BufferKey(NoteKey(note.id), uri: uri)
    #expect(log.content.left[key]?.text == Array("tea\nmine\nmilk\n".utf8), "at once")
    world.connect("host", "ben")
    try await ben.wait(for: "the words in the note") { ben.text(of: note.id)?.contains("milk") == true }
    #expect(log.content.left.isEmpty)
    #expect(ben.session.editor.buffers[uri] == nil)
    #expect(try await ben.recoveredTexts().isEmpty)
  }

  /// The journal is written on the loop.
  @Test func aLargeBufferThatIsClosedBeforeItsNoteArrivesIsKeptInTheStore() async throws {
    let (note, log) = (try hostedNote("tea\n"), WrittenJournal())
    let text = "tea\n" + String(repeating: "mine\n", count: 1 << 18)
    let ben = try await waiting(for: note, with: text, journal: log)
    ben.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    try await ben.wait(for: "the copy") { !ben.events("recovered").isEmpty }
    #expect(try await ben.recoveredTexts() == [text])
    #expect(log.content.left.isEmpty)
  }

  @Test func aBufferThatIsClosedAndWhoseNoteCannotBeOpenedIsKeptAndIsNoPlainFile() async throws {
    let (note, log) = (try hostedNote("tea\n"), WrittenJournal())
    let ben = try await waiting(for: note, with: "tea\nmine\n", journal: log)
    ben.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    // The document that arrives is not a note.
    try note.change { try $0.delete(obj: .ROOT, key: "content") }
    world.connect("host", "ben")
    try await ben.wait(for: "the copy") { !ben.events("recovered").isEmpty }
    #expect(try await ben.recoveredTexts() == ["tea\nmine\n"])
    #expect(ben.session.editor.buffers[uri] == nil)
    #expect(log.content.left.isEmpty)
  }

  @Test func whatTheServiceDoesNotKnowIsCalledNoNote() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    ben.open(uri, "tea\n", reattach: true)
    try await ben.wait(for: "the news") { !ben.events("detached").isEmpty }
    #expect(ben.events("detached").map { $0["reason"] } == ["notFound"])
    #expect(ben.events("detached").first?["message"] == "Not found: \"Shopping\"; the text stays as a plain file")
  }

  @Test func aFileThatTheEditorTakesForANoteIsCalledNoNote() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    ben.send(
      "textDocument/didOpen",
      [
        "textDocument": ["uri": .string(uri), "languageId": "text", "version": 1, "text": "tea\n"],
        "notes": ["id": "2pXDuKpGWC9PQ5jy463SyfFbeqjJ"],
      ])
    try await ben.wait(for: "the news") { !ben.events("detached").isEmpty }
    #expect(ben.events("detached").map { $0["reason"] } == ["notFound"])
  }

  @Test func whatAnotherProcessTellsInTimeIsANote() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    ben.files[path] = Array("tea\n".utf8)
    ben.open(uri, "tea\nmilk\n", reattach: true)
    let handle = try NoteMaker(service: ben.service).document(title: "Shopping", text: Array("tea\n".utf8))
    var record = NoteRecord(id: handle.id, title: "Shopping", created: world.clock.date, modified: world.clock.date)
    record.path = path
    record.fileBase = TextBase(heads: handle.document.heads(), steps: [])
    ben.service.notebook.remember(record)
    try await ben.wait(for: "the buffer to be the note") { ben.binding(uri) != nil }
    world.clock.advance(by: .seconds(5))
    for _ in 0..<20 { await Task.yield() }
    #expect(ben.events("detached").isEmpty)
    #expect(ben.text(of: handle.id)?.contains("tea\n") == true && ben.text(of: handle.id)?.contains("milk\n") == true)
  }
}
