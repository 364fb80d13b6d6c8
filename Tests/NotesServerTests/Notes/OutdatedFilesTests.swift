import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Working files that an editor or a service left without what their notes have.
@AutomergeRepo struct OutdatedFilesTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 15)))
  private let log = WrittenJournal()
  private let path = "/notes/List.md"
  private let uri = "file:///notes/List.md"

  /// Ben has typed a line into the new note "List", and has not saved it.
  private func typed() async throws -> (ben: ServiceUnderTest, id: DocumentId) {
    let ben = ServiceUnderTest(world, journal: log)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "List"])
    ben.open(uri, "")
    try await ben.wait(for: "the buffer") { ben.binding(uri) != nil && !log.content.clients.isEmpty }
    ben.change(uri, "oat milk\n", version: 2)
    let id = try #require(DocumentId(made["id"]?.stringValue))
    try await ben.handle(of: id).flush()
    #expect(ben.files[path] == [])
    return (ben, id)
  }

  private func end(_ service: ServiceUnderTest, _ end: (Session) -> Void) async throws {
    var code: Int32?
    service.session.onEnd = { code = $0 }
    end(service.session)
    // On a busy machine the second that files may take at the end would pass before they have been written.
    try await service.waitAsTimeStands(for: "the end") { code != nil }
    world.crash("ben")
  }

  private func found(by service: ServiceUnderTest) async throws -> Bool {
    let found = try await service.request("notes/list", ["query": "oat milk"])
    return found["notes"]?.arrayValue?.count == 1
  }

  @Test func whatAnEditorThatDiedHadNotSavedIsFoundAndReachesTheFile() async throws {
    let (ben, id) = try await typed()
    try await end(ben) { $0.inputEnded() }
    let next = ServiceUnderTest(world, files: ben.files)
    try await next.start()
    #expect(next.service.notebook[id]?.isFileOutdated == true)
    #expect(try await found(by: next))
    #expect(next.files[path] == [])
    try await next.pass(OutdatedFiles.delay * 2)
    try await next.wait(for: "the file") { next.files[path] == Array("oat milk\n".utf8) }
    try await next.waitAsTimeStands(for: "the record") {
      try await next.service.notebook.stored(NoteKey(id))?.isFileOutdated == false
    }
    #expect(try await found(by: next))
  }

  @Test func whatAKilledServiceHadNotWrittenIsFoundAndReachesTheFile() async throws {
    let (ben, id) = try await typed()
    world.crash("ben")
    // The system frees the locks of the killed process.
    let files = MemoryFiles()
    files[path] = ben.files[path]
    let next = ServiceUnderTest(world, files: files, journal: DeadJournal(bytes: log.writings.flatMap(\.self)))
    try await next.start()
    await next.service.settleJournals()
    #expect(next.service.notebook[id]?.isFileOutdated == true)
    #expect(try await found(by: next))
    try await next.pass(OutdatedFiles.delay * 2)
    try await next.wait(for: "the file") { next.files[path] == Array("oat milk\n".utf8) }
  }

  /// The journal of a process has no trace of a note that was closed, and its file waits for half a second.
  @Test func whatWasClosedAMomentBeforeTheServiceWasKilledIsFoundAndReachesTheFile() async throws {
    let (ben, id) = try await typed()
    ben.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    try await ben.waitAsTimeStands(for: "the record") {
      try await ben.service.notebook.stored(NoteKey(id))?.isFileOutdated == true
    }
    world.crash("ben")
    let files = MemoryFiles()
    files[path] = ben.files[path]
    let next = ServiceUnderTest(world, files: files)
    try await next.start()
    #expect(try await found(by: next))
    try await next.pass(OutdatedFiles.delay * 2)
    try await next.wait(for: "the file") { next.files[path] == Array("oat milk\n".utf8) }
  }

  /// The buffer stayed, and its editor would ask about a file that changes under it.
  @Test func theFileOfABufferThatOutlivesItsServiceIsLeftToTheEditor() async throws {
    let (ben, id) = try await typed()
    try await end(ben) { $0.inputEnded() }
    let next = ServiceUnderTest(world, files: ben.files)
    try await next.start()
    next.open(uri, "oat milk\n", reattach: true)
    try await next.wait(for: "the buffer") { next.binding(uri) != nil }
    try await next.pass(OutdatedFiles.delay * 3)
    #expect(next.files[path] == [])
    next.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    try await next.wait(for: "the file") { next.files[path] == Array("oat milk\n".utf8) }
    try await next.wait(for: "the record") { next.service.notebook[id]?.isFileOutdated == false }
  }

  /// `:NotesStop`: the person goes on in the buffer, and another editor of theirs starts a service.
  @Test func theFileOfAnEditorThatOnlyStopsItsServiceIsLeftToIt() async throws {
    let (ben, id) = try await typed()
    try await end(ben) { session in
      ben.send("shutdown", .null, id: 2)
      ben.send("exit", .null)
    }
    let next = ServiceUnderTest(world, files: ben.files)
    try await next.start()
    #expect(next.service.notebook[id]?.isFileOutdated == true)
    #expect(try await found(by: next))
    try await next.pass(OutdatedFiles.delay * 2)
    #expect(next.files[path] == [])
    // The editor ends after all, and another one opens the note.
    next.open(uri, "")
    try await next.wait(for: "the buffer") { next.binding(uri) != nil }
    next.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    try await next.wait(for: "the file") { next.files[path] == Array("oat milk\n".utf8) }
  }

  @Test func aNoteWhoseFileIsGoneIsFound() async throws {
    let (ben, id) = try await typed()
    try await end(ben) { $0.inputEnded() }
    ben.files[path] = nil
    let next = ServiceUnderTest(world, files: ben.files)
    try await next.start()
    next.service.notebook.update(NoteKey(id)) { $0.isFileOutdated = false }
    #expect(try await found(by: next))
  }

  @Test func theFileOfABufferThatIsClosedAtTheEndIsWrittenBeforeTheServiceEnds() async throws {
    let (ben, id) = try await typed()
    try await end(ben) { session in
      ben.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
      session.inputEnded()
    }
    #expect(ben.files[path] == Array("oat milk\n".utf8))
    #expect(try await ben.service.notebook.stored(NoteKey(id))?.isFileOutdated == false)
  }

  @Test func aFileThatWasSavedIsNotOutdated() async throws {
    let (ben, id) = try await typed()
    ben.files[path] = Array("oat milk\n".utf8)
    ben.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    try await ben.wait(for: "what the file has") {
      ben.service.notebook[id]?.fileBase?.heads == ben.service.repo.handle(of: id)?.document.heads()
    }
    try await end(ben) { $0.inputEnded() }
    #expect(try await ben.service.notebook.stored(NoteKey(id))?.isFileOutdated == false)
  }
}
