import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import Synchronization
import TestSupport
import Testing

@testable import NotesServer

/// Another program has written to the file of an open note, and the person saves before the service has merged that:
/// the editor reports what it found, and overwrites it.
@AutomergeRepo struct OverwrittenFileTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 8)))
  private let path = "/notes/Shopping.md"
  private let uri = "file:///notes/Shopping.md"

  private func lines(_ ana: ServiceUnderTest, _ id: DocumentId) -> [String]? {
    ana.text(of: id)?.split(separator: "\n").map { String($0) }.sorted()
  }

  private func opened(
    _ text: String = "tea\n", journal: any JournalAccess = NoJournal()
  ) async throws -> (DocumentId, ServiceUnderTest) {
    let ana = ServiceUnderTest(world, journal: journal)
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": .string(text)])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    ana.open(uri, text)
    try await ana.wait(for: "the note") { ana.binding(uri) != nil }
    return (id, ana)
  }

  /// A note with a line of another program that its editor does not show yet.
  private func openedBesideAProgram() async throws -> (DocumentId, ServiceUnderTest, ClientBuffer) {
    let ana = ServiceUnderTest(world)
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let buffer = ClientBuffer(uri, "tea\n", in: ana)
    try await ana.wait(for: "the note") {
      ana.binding(uri) != nil && !ana.service.openFiles.isBusy(NoteKey(id))
    }
    ana.files[path] = Array("tea\nmilk\n".utf8)
    #expect(ana.service.openFiles.changed(NoteKey(id)))
    try await ana.wait(for: "the line") {
      ana.text(of: id) == "tea\nmilk\n" && !ana.service.openFiles.isBusy(NoteKey(id))
    }
    return (id, ana, buffer)
  }

  /// The service that opens the note, and its file with this text, after another one.
  private func reopened(_ id: DocumentId, _ text: String, after ana: ServiceUnderTest) async throws -> ServiceUnderTest
  {
    let next = ServiceUnderTest(world, files: ana.files)
    try await next.start()
    next.open(uri, text)
    try await next.wait(for: "the note") { next.binding(uri) != nil }
    try await next.pass(.seconds(2))
    _ = try await next.handle(of: id)
    return next
  }

  private func overwrite(_ ana: ServiceUnderTest, _ text: String = "tea\n", claims: Bool) {
    ana.files[path] = Array((text + "milk\n").utf8)
    ana.change(uri, text + "eggs\n", version: 2)
    if claims { ana.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]]) }
    ana.send("notes/file", ["uri": .string(uri), "text": .string(text + "milk\n")])
    ana.files[path] = Array((text + "eggs\n").utf8)
    ana.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
  }

  @Test(arguments: [false, true]) func whatTheOtherProgramWroteIsMerged(claims: Bool) async throws {
    let (id, ana) = try await opened()
    overwrite(ana, claims: claims)
    try await ana.wait(for: "all three") { ana.text(of: id)?.split(separator: "\n").count == 3 }
    #expect(lines(ana, id) == ["eggs", "milk", "tea"])
    let end = world.clock.now + .seconds(2)
    try await ana.wait(for: "two seconds") { world.clock.now >= end }
    #expect(lines(ana, id) == ["eggs", "milk", "tea"])
  }

  /// A shell's `>` empties a file first.
  @Test(arguments: ["", "one\nt"]) func aFileThatAProgramHasBegunToWriteAnewDeletesNothing(found: String) async throws {
    let (id, ana) = try await opened("one\ntwo\nthree\n")
    try await ana.pass(.seconds(5))
    ana.change(uri, "one\ntwo\nthree\nunsaved\n", version: 2)
    ana.files.write(path, found, at: world.clock.date)
    ana.send("notes/file", ["uri": .string(uri), "text": .string(found)])
    ana.files[path] = Array("one\ntwo\nthree\nunsaved\n".utf8)
    ana.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    try await ana.pass(.seconds(20))
    #expect(ana.text(of: id) == "one\ntwo\nthree\nunsaved\n")
  }

  @Test func aLineThatAProgramHasDeletedIsDeletedThoughThePersonSaves() async throws {
    let (id, ana) = try await opened("one\ntwo\nthree\n")
    try await ana.pass(.seconds(5))
    ana.change(uri, "one\ntwo\nthree\nunsaved\n", version: 2)
    ana.send("notes/file", ["uri": .string(uri), "text": "one\nthree\n"])
    ana.files[path] = Array("one\ntwo\nthree\nunsaved\n".utf8)
    ana.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    try await ana.pass(.seconds(20))
    #expect(ana.text(of: id) == "one\nthree\nunsaved\n")
  }

  /// The service has not seen the earlier save in the file yet.
  @Test func aLineThatWasSavedAMomentBeforeStandsOnceThoughItIsTypedOn() async throws {
    let (id, ana) = try await opened()
    func save(_ text: String) {
      ana.files[path] = Array(text.utf8)
      ana.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    }
    ana.change(uri, "tea typed\n", version: 2)
    save("tea typed\n")
    ana.change(uri, "tea typed again\n", version: 3)
    ana.send("notes/file", ["uri": .string(uri), "text": "milk\ntea typed\n"])
    save("tea typed again\n")
    try await ana.wait(for: "the line") { ana.text(of: id)?.contains("milk") ?? false }
    try await ana.pass(.seconds(2))
    #expect(ana.text(of: id) == "milk\ntea typed again\n")
  }

  /// A look at the file is under way when the person saves. It takes what the editor has written for what the file held.
  @Test func whatTheEditorWritesDuringALookIsNotTakenForTheTextThatItOverwrote() async throws {
    let (id, ana) = try await opened()
    try await ana.pass(.seconds(5))
    let isFirst = Mutex(true)
    ana.files.onLook.withLock {
      $0 = { _ in
        let isNow = isFirst.withLock { value in
          defer { value = false }
          return value
        }
        if isNow { await Task { @AutomergeRepo in overwrite(ana, claims: false) }.value }
      }
    }
    ana.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    try await ana.wait(for: "the save") { ana.text(of: id)?.contains("eggs") ?? false }
    try await ana.pass(.seconds(5))
    #expect(lines(ana, id) == ["eggs", "milk", "tea"])
  }

  /// Someone types so fast that the document changes during each comparison.
  @Test(arguments: [false, true]) func whatTheEditorWroteIsNotTakenForTheTextThatItOverwroteThoughTheMergeIsPutOff(
    claims: Bool
  ) async throws {
    let text = String(repeating: "tea\n", count: 20_000)
    let (id, ana) = try await opened(text)
    try await ana.pass(.seconds(5))
    let handle = try await ana.handle(of: id)
    let isTyping = Mutex(true)
    ana.files.onLook.withLock { $0 = { _ in isTyping.withLock { $0 = false } } }
    overwrite(ana, text, claims: claims)
    var number: Int64 = 0
    try await ana.waitAsTimeStands(for: "the merge that is put off") {
      number += 1
      try handle.change { try $0.put(obj: .ROOT, key: "typed", value: .Int(number)) }
      return !isTyping.withLock(\.self) || ana.service.openFiles.isWaiting(NoteKey(id))
    }
    try await ana.wait(for: "the file's content") { !ana.service.openFiles.isBusy(NoteKey(id)) }
    #expect(lines(ana, id)?.filter { $0 != "tea" } == ["eggs", "milk"])
  }

  /// Nothing but the service has the text then.
  @Test func itIsInTheJournalUntilItIsMergedAndStored() async throws {
    let log = WrittenJournal()
    let (id, ana) = try await opened(journal: log)
    try await ana.pass(.seconds(5))
    overwrite(ana, claims: false)
    ana.send("notes/file", ["uri": .string(uri), "text": "tea\nham\n"])
    let texts = log.content.overwritten[NoteKey(id)]?.map { String(decoding: $0.text, as: UTF8.self) }
    #expect(texts == ["tea\nmilk\n", "tea\nham\n"])
    try await ana.wait(for: "the merge") { !ana.service.openFiles.isBusy(NoteKey(id)) }
    #expect(lines(ana, id) == ["eggs", "ham", "milk", "tea"])
    #expect(log.content.overwritten.isEmpty)
  }

  /// Another process has the right to look at the file all the time.
  @Test func itIsKeptAsARecoveredTextIfTheServiceEndsBeforeItIsMerged() async throws {
    let log = WrittenJournal()
    let (id, ana) = try await opened(journal: log)
    try await ana.pass(.seconds(5))
    let turn = try #require(ana.files.claim("file-" + NoteKey(id).lockName, exclusively: true))
    overwrite(ana, claims: false)
    var code: Int32?
    ana.session.onEnd = { code = $0 }
    ana.session.inputEnded()
    try await ana.wait(for: "the end") { code != nil }
    withExtendedLifetime(turn) {}
    #expect(try await ana.recoveredTexts() == ["tea\nmilk\n"])
    #expect(log.content.overwritten.isEmpty && log.hasEnded)
  }

  @Test func itIsKeptAsARecoveredTextIfTheNotesFileIsGone() async throws {
    let (id, ana) = try await opened()
    try await ana.pass(.seconds(5))
    overwrite(ana, claims: false)
    ana.service.notebook.update(NoteKey(id)) { $0.path = nil }
    await ana.service.openFiles.settle(NoteKey(id))
    #expect(try await ana.recoveredTexts() == ["tea\nmilk\n"])
  }

  /// The loop runs on for a moment.
  @Test func itIsKeptAsARecoveredTextIfItIsFoundAfterTheJournalWasRemoved() async throws {
    let (id, ana) = try await opened(journal: WrittenJournal())
    ana.service.journal.end()
    _ = ana.service.recoveredTexts.overwrote(Array("tea\nmilk\n".utf8), NoteKey(id))
    try await ana.wait(for: "the copy") { !ana.service.recoveredTexts.holds(id) }
    try await ana.pass(.seconds(1))
    #expect(try await ana.recoveredTexts() == ["tea\nmilk\n"])
  }

  /// The other process would take the line that the editor did not show for deleted.
  @Test func noOtherProcessLooksAtTheFileBetweenTheEditorsReportAndTheMerge() async throws {
    let (id, ana) = try await opened()
    ana.files[path] = Array("tea\nmilk\n".utf8)
    ana.send("workspace/didChangeWatchedFiles", ["changes": [["uri": .string(uri), "type": 2]]])
    try await ana.wait(for: "the line") {
      ana.text(of: id) == "tea\nmilk\n" && !ana.service.openFiles.isBusy(NoteKey(id))
    }
    ana.change(uri, "eggs\ntea\n", version: 2)
    ana.files[path] = Array("eggs\ntea\nham\n".utf8)
    ana.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    func isFree() -> Bool { ana.files.claim("file-" + NoteKey(id).lockName, exclusively: true) != nil }
    try await ana.waitAsTimeStands(for: "the first look") { ana.service.openFiles.isWaiting(NoteKey(id)) }
    #expect(!isFree())
    try await ana.wait(for: "the other line") { ana.text(of: id)?.contains("ham") ?? false }
    try await ana.wait(for: "the end of the look") { isFree() }
    #expect(ana.text(of: id)?.split(separator: "\n").sorted() == ["eggs", "ham", "milk", "tea"])
  }

  @Test func itIsMergedThoughTheBufferIsClosedAtOnce() async throws {
    let (id, ana) = try await opened()
    overwrite(ana, claims: false)
    ana.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    try await ana.wait(for: "all three") { ana.text(of: id)?.split(separator: "\n").count == 3 }
    try await ana.wait(for: "the file") {
      String(decoding: ana.files[path] ?? [], as: UTF8.self).split(separator: "\n").sorted() == ["eggs", "milk", "tea"]
    }
    #expect(lines(ana, id) == ["eggs", "milk", "tea"])
  }

  /// An editor has overwritten words of another program that it did not show yet, and the service ends before the
  /// editor reports it.
  @Test(arguments: [true, false]) func itStaysThoughTheServiceIsKilledAsTheFileIsWritten(
    isOpenedAgain: Bool
  ) async throws {
    let (id, ana) = try await opened()
    ana.files[path] = Array("tea\nmilk\n".utf8)
    ana.send("workspace/didChangeWatchedFiles", ["changes": [["uri": .string(uri), "type": 2]]])
    try await ana.wait(for: "the line") { ana.text(of: id) == "tea\nmilk\n" }
    try await ana.pass(.seconds(5))
    ana.files[path] = Array("tea\n".utf8)
    world.crash("ben")
    let next = ServiceUnderTest(world, files: ana.files)
    try await next.start()
    if isOpenedAgain {
      next.open(uri, "tea\n")
      try await next.wait(for: "the note") { next.binding(uri) != nil }
    } else {
      _ = try await next.request("notes/open", ["id": .string(id.description)])
    }
    try await next.pass(.seconds(2))
    _ = try await next.handle(of: id)
    #expect(next.text(of: id) == "tea\nmilk\n")
  }

  /// The editor has shown the line since. The power fails before the file is examined: the journal is gone, the store stays.
  @Test func whatTheEditorDidNotShowWhenItSavedStaysThoughThePowerFails() async throws {
    let (id, ana, buffer) = try await openedBesideAProgram()
    buffer.replace(0..<0, "eggs\n")
    ana.files[path] = Array("eggs\ntea\n".utf8)
    buffer.save()
    // Another program writes more, so the service looks again a little later.
    ana.files[path] = Array("eggs\ntea\nham\n".utf8)
    try await ana.waitAsTimeStands(for: "the first look") { ana.service.openFiles.isWaiting(NoteKey(id)) }
    while buffer.hasMail { buffer.readMessage() }
    #expect(buffer.string == "eggs\ntea\nmilk\n")
    buffer.replace(0..<0, "bread\n")
    try await ana.handle(of: id).flush()
    world.crash("ben")
    let next = try await reopened(id, "eggs\ntea\nham\n", after: ana)
    #expect(lines(next, id) == ["bread", "eggs", "ham", "milk", "tea"])
  }

  /// Neither the store nor the journal has what the person deleted last.
  @Test func itStaysThoughThePowerFailsAsTheEditorWritesLessThanTheStoreKnowsItToHave() async throws {
    let (id, ana, buffer) = try await openedBesideAProgram()
    buffer.replace(0..<0, "eggs\nbread\njam\n")
    try await ana.handle(of: id).flush()
    #expect(buffer.string == "eggs\nbread\njam\ntea\n")
    world.crash("ben")
    ana.files[path] = Array("eggs\njam\ntea\nham\n".utf8)
    let next = try await reopened(id, "eggs\njam\ntea\nham\n", after: ana)
    #expect(lines(next, id) == ["bread", "eggs", "ham", "jam", "milk", "tea"])
  }

  /// The same of an editor of another process, while this one has the note open.
  @Test func itStaysThoughAnotherEditorWritesLessThanItsServiceHasStored() async throws {
    let (id, ana) = try await opened()
    ana.change(uri, "eggs\nbread\njam\ntea\n", version: 2)
    try await ana.wait(for: "the first look") { !ana.service.openFiles.isBusy(NoteKey(id)) }
    let base = TextBase(heads: try await ana.handle(of: id).document.heads(), steps: [], object: nil)
    let client = ClientBase(base: base, time: world.clock.date, object: nil)
    try await ana.service.notebook.storage.commit([.save(client.item(NoteKey(id), run: "aa"))])
    for (text, last) in [("tea\nmilk\n", "milk"), ("eggs\njam\ntea\nham\n", "ham")] {
      ana.files[path] = Array(text.utf8)
      #expect(ana.service.openFiles.changed(NoteKey(id)))
      try await ana.wait(for: "what was added") {
        ana.text(of: id)?.contains(last) ?? false && !ana.service.openFiles.isBusy(NoteKey(id))
      }
    }
    #expect(lines(ana, id) == ["bread", "eggs", "ham", "jam", "milk", "tea"])
  }

  /// This process has looked at an earlier change of the file, before the other one stored what its editor has.
  @Test func itStaysThoughAnotherProcessIsKilledAsItsEditorWritesTheFile() async throws {
    let (id, ana) = try await opened()
    try await ana.wait(for: "the first look") { !ana.service.openFiles.isBusy(NoteKey(id)) }
    let handle = try await ana.handle(of: id)
    let base = TextBase(heads: handle.document.heads(), steps: [], object: nil)
    let client = ClientBase(base: base, time: world.clock.date, object: nil)
    let hasLooked = Mutex(false)
    ana.files.onLook.withLock { $0 = { _ in hasLooked.withLock { $0 = true } } }
    func write(_ text: String) async throws {
      ana.files[path] = Array(text.utf8)
      hasLooked.withLock { $0 = false }
      #expect(ana.service.openFiles.changed(NoteKey(id)))
      try await ana.wait(for: "a look") { hasLooked.withLock(\.self) }
      await ana.service.openFiles.settle(NoteKey(id))
    }
    try await write("tea\nmilk\n")
    #expect(lines(ana, id) == ["milk", "tea"])
    try await ana.service.notebook.storage.commit([.save(client.item(NoteKey(id), run: "aa"))])
    try await write("tea\n")
    #expect(lines(ana, id) == ["milk", "tea"])
  }

  /// The editor shows the line when another program deletes it.
  @Test func whatAnotherProgramDeletesIsDeletedAlsoIfNoServiceRuns() async throws {
    let (id, ana) = try await opened()
    ana.change(uri, "tea\nmilk\n", version: 2)
    ana.files[path] = Array("tea\nmilk\n".utf8)
    ana.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    try await ana.pass(.seconds(5))
    world.crash("ben")
    ana.files[path] = Array("milk\n".utf8)
    let next = ServiceUnderTest(world, files: ana.files)
    try await next.start()
    next.open(uri, "milk\n")
    try await next.wait(for: "the note") { next.binding(uri) != nil }
    try await next.pass(.seconds(2))
    #expect(next.text(of: id) == "milk\n")
  }

  /// A person opens a file with a new line and deletes the line. The program writes the file again before the service
  /// has read it; then another process opens it.
  @Test(arguments: [true, false], [false, true])
  func aDeletedLineStaysDeletedThoughItsProgramWritesOnAndAnotherProcessOpensTheFile(
    isWrittenLate: Bool, isWrittenAgain: Bool
  ) async throws {
    let (id, ana) = try await opened()
    ana.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    try await ana.pass(.seconds(5))
    world.crash("ben")
    ana.files.write(path, "tea\nmilk\n")
    let next = ServiceUnderTest(world, files: ana.files)
    try await next.start()
    // The file does not have other people's words.
    let handle = try await next.handle(of: id)
    let note = try #require(NoteDocument(handle.document))
    for number in 1...30 {
      try handle.change { try $0.spliceText(obj: note.content, start: 0, delete: 0, value: "bread \(number)\n") }
    }
    let write: @Sendable () -> Void = { [files = ana.files, path, date = world.clock.date] in
      files.write(path, "tea\nmilk\neggs\n", at: date)
    }
    next.open(uri, "tea\nmilk\n")
    next.change(uri, "tea\n", version: 2)
    if isWrittenLate { next.files.onLook.withLock { $0 = { _ in write() } } } else { write() }
    try await next.wait(for: "the note") { next.binding(uri) != nil }
    try await next.waitAsTimeStands(for: "what the buffer was opened with, or what the file holds") {
      let texts = try await next.service.notebook.editorTexts(of: NoteKey(id))
      return texts.contains { $0.actor == nil } || !next.service.openFiles.isBusy(NoteKey(id))
    }
    next.files.onLook.withLock { $0 = { _ in } }
    world.crash("ben")
    let last = ServiceUnderTest(world, files: ana.files)
    try await last.start()
    if isWrittenAgain { last.files.write(path, "tea\nmilk\neggs\nham\n", at: world.clock.date) }
    last.open(uri, "tea\nmilk\neggs\n")
    try await last.wait(for: "the note") { last.binding(uri) != nil }
    try await last.pass(.seconds(5))
    let lines = last.text(of: id)?.split(separator: "\n").filter { !$0.hasPrefix("bread") }
    #expect(lines?.sorted() == (isWrittenAgain ? ["eggs", "ham", "tea"] : ["eggs", "tea"]))
  }
}
