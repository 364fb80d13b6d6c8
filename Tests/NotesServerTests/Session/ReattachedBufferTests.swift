import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A buffer that has outlived its service. The service may have left no trace of it, if it was killed before it had
/// opened the note.
@AutomergeRepo struct ReattachedBufferTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 6)))
  private let path = "/notes/Shopping.md"
  private let uri = "file:///notes/Shopping.md"

  /// Ben has the note of another person, and its file; the two are connected.
  private func shared(_ text: String) async throws -> (DocHandle, ServiceUnderTest) {
    let document = Document(textEncoding: .utf8)
    _ = try NoteDocument(new: document, title: "Shopping", text: Array(text.utf8), created: world.clock.date)
    document.commitWith(message: nil, timestamp: world.clock.date)
    let note = try world.start("host").create(document)
    let ben = ServiceUnderTest(world)
    try await ben.start()
    world.connect("host", "ben")
    _ = try await ben.request("notes/open", ["id": .string(note.id.description)])
    return (note, ben)
  }

  /// A peer that never reports its state of the note.
  private func busyPeer(with note: DocHandle) -> PeerSummary {
    PeerSummary(
      peer: PeerId("busy"), name: "Busy", fingerprint: "", state: .connected, isConnected: true, via: "",
      notes: [(note.id, .write)])
  }

  private func append(_ text: String, to note: DocHandle) throws {
    let content = try #require(NoteDocument(note.document)).content
    try note.change { document in
      try document.spliceText(
        obj: content, utf8Offset: try document.text(obj: content).utf8.count, deleteUTF8: 0, insert: Array(text.utf8))
    }
  }

  @Test(arguments: [nil, "5cd1f9de6aa2aa07e472fa81aec16d69"])
  func whatOthersWroteToTheFileMeanwhileStays(run: String?) async throws {
    let (note, ben) = try await shared("tea\n")
    for word in ["milk", "eggs"] {
      try append("\(word)\n", to: note)
      try await ben.wait(for: "\(word) in the file") {
        String(decoding: ben.files[path] ?? [], as: UTF8.self).contains(word)
      }
    }
    ben.open(uri, "tea\nbread\n", reattach: true, run: run)
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    let lines = ben.text(of: note.id)?.split(separator: "\n").sorted()
    #expect(lines == ["bread", "eggs", "milk", "tea"])
  }

  /// The editor closes the buffer and opens another one before the note is there.
  @Test func anUndoInABufferThatWasClosedUndoesNothingInTheNextOne() async throws {
    let (note, ben) = try await shared("tea\n")
    try await ben.wait(for: "the file") { ben.files[path] != nil }
    ben.open(uri, "tea\n", reattach: true, run: "5cd1f9de6aa2aa07e472fa81aec16d69")
    #expect(ben.binding(uri) == nil)
    ben.send("notes/undo", ["uri": .string(uri), "version": 1, "rev": 0], id: 50)
    ben.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    ben.open(uri, "tea\n")
    ben.change(uri, "tea\nbread\n", version: 2)
    try await ben.wait(for: "an answer") { ben.sent.contains { $0["id"]?.intValue == 50 } }
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    #expect(ben.sent.first { $0["id"]?.intValue == 50 }?["error"] != nil)
    #expect(ben.text(of: note.id) == "tea\nbread\n")
  }

  /// The editor read the file a few seconds ago, and other people have typed since.
  @Test(arguments: [true, false], [true, false])
  func whatOthersDeletedStaysDeletedThoughTheFileWasWrittenManyTimesSince(
    isReattached: Bool, isRestarted: Bool
  ) async throws {
    var (note, ben) = try await shared("tea\nmilk\n")
    try await ben.wait(for: "the file") { ben.files[path] == Array("tea\nmilk\n".utf8) }
    let content = try #require(NoteDocument(note.document)).content
    try note.change { try $0.spliceText(obj: content, start: 4, delete: 5) }
    let words = (1...10).map { "word \($0)" }
    for word in words {
      try append("\(word)\n", to: note)
      try await ben.wait(for: "\(word) in the file") {
        String(decoding: ben.files[path] ?? [], as: UTF8.self).hasSuffix("\(word)\n")
      }
    }
    if isRestarted {
      try await ben.pass(.seconds(5))
      world.crash("ben")
      ben = ServiceUnderTest(world, files: ben.files)
      try await ben.start()
    }
    ben.open(
      uri, isReattached ? "tea\nmilk\nbread\n" : "tea\nmilk\n", reattach: isReattached,
      opened: isReattached ? "tea\nmilk\n" : nil)
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    #expect(
      ben.text(of: note.id)?.split(separator: "\n").map(String.init).sorted()
        == (["tea"] + (isReattached ? ["bread"] : []) + words).sorted())
  }

  /// The service was killed before it had read the last words: only the editor's buffer has them.
  @Test func whatNoServiceHeardIsTheFirstToBeUndone() async throws {
    let (note, ben) = try await shared("tea\n")
    let run = ben.service.run
    ben.open(uri, "tea\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    ben.change(uri, "tea\nmilk\n", version: 2)
    try await ben.wait(for: "the typed words") { ben.text(of: note.id) == "tea\nmilk\n" }
    try await ben.handle(of: note.id).flush()
    ben.open(uri, "tea\nmilk\nbread\n", reattach: true, run: run)
    try await ben.wait(for: "the words") { ben.text(of: note.id) == "tea\nmilk\nbread\n" }
    for text in ["tea\nmilk\n", "tea\n"] {
      ben.send("notes/undo", ["uri": .string(uri), "version": 1, "rev": 0], id: 7)
      try await ben.wait(for: "the rest") { ben.text(of: note.id) == text }
    }
  }

  /// The person types on before the new service has read the undo history that the old one had stored.
  @Test func whatIsTypedAfterAnUndoStaysThoughTheHistoryIsReadOnlyThen() async throws {
    let (note, ben) = try await shared("tea\n")
    let run = ben.service.run
    ben.open(uri, "tea\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    ben.change(uri, "tea\nmilk\n", version: 2)
    try await ben.wait(for: "the typed words") { ben.text(of: note.id) == "tea\nmilk\n" }
    try await ben.handle(of: note.id).flush()
    ben.open(uri, "tea\nmilk\n", reattach: true, run: run)
    ben.send("notes/undo", ["uri": .string(uri), "version": 1, "rev": 0], id: 7)
    ben.change(uri, "tea\nmilk\nbread\n", version: 2)
    ben.send("notes/undo", ["uri": .string(uri), "version": 2, "rev": 0], id: 8)
    ben.change(uri, "tea\nmilk\nbread\neggs\n", version: 3)
    for id in [7, 8] {
      try await ben.wait(for: "the answer") { ben.sent.contains { $0["id"]?.intValue == id } }
    }
    #expect(ben.text(of: note.id) == "tea\neggs\n")
    ben.send("notes/undo", ["uri": .string(uri), "version": 3, "rev": 0], id: 9)
    try await ben.wait(for: "the rest") { ben.text(of: note.id) == "tea\n" }
  }

  /// The service was killed before it had read that the buffer was opened.
  @Test func whatWasDeletedBeforeAnyServiceHadOpenedTheBufferStaysDeleted() async throws {
    let (note, ben) = try await shared("tea\n")
    try append("milk\n", to: note)
    try await ben.wait(for: "milk in the file") { ben.files[path] == Array("tea\nmilk\n".utf8) }
    ben.open(
      uri, "tea\nbread\n", reattach: true, run: "5cd1f9de6aa2aa07e472fa81aec16d69", opened: "tea\nmilk\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    #expect(ben.text(of: note.id) == "tea\nbread\n")
    #expect(try await ben.recoveredTexts() == [], "nothing is in doubt")
  }

  /// The buffer shows words that another program had written to the file and no service had merged; then the program
  /// writes more.
  @Test func whatWasInTheFileBeforeAnyServiceHadOpenedTheBufferStandsOnce() async throws {
    let (note, ben) = try await shared("tea\n")
    ben.files[path] = Array("tea\neggs\nmilk\n".utf8)
    ben.open(
      uri, "tea\nbread\nmilk\n", reattach: true, run: "5cd1f9de6aa2aa07e472fa81aec16d69", opened: "tea\nmilk\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    try await ben.wait(for: "the first look") { !ben.service.openFiles.isBusy(NoteKey(note.id)) }
    try await ben.pass(.seconds(1))
    #expect(ben.text(of: note.id)?.split(separator: "\n").sorted() == ["bread", "eggs", "milk", "tea"])
  }

  /// No service has read what the file held when the editor read it: the program wrote more at once.
  @Test(arguments: [true, false]) func whatTheFileHeldForAMomentStaysDeleted(isReattached: Bool) async throws {
    let (note, ben) = try await shared("tea\n")
    ben.files[path] = Array("ham\ntea\nmilk\neggs\n".utf8)
    _ = try await ben.request("notes/open", ["id": .string(note.id.description)])
    try await ben.wait(for: "the eggs") { ben.text(of: note.id) == "ham\ntea\nmilk\neggs\n" }
    let content = try #require(NoteDocument(note.document)).content
    try await ben.wait(for: "them there") { (try? note.document.text(obj: content).utf8.count) == 18 }
    try note.change { try $0.spliceText(obj: content, start: 8, delete: 5) }
    try await ben.wait(for: "the deletion in the file") { ben.files[path] == Array("ham\ntea\neggs\n".utf8) }
    if isReattached {
      ben.open(
        uri, "tea\nmilk\nbread\n", reattach: true, run: "5cd1f9de6aa2aa07e472fa81aec16d69", opened: "tea\nmilk\n")
    } else {
      ben.open(uri, "tea\nmilk\n")
    }
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    try await ben.pass(.seconds(1))
    #expect(
      ben.text(of: note.id)?.split(separator: "\n").sorted()
        == (isReattached ? ["bread", "eggs", "ham", "tea"] : ["eggs", "ham", "tea"]))
    #expect(try await ben.recoveredTexts() == [], "nothing is in doubt")
  }

  /// The person had deleted a line and saved. Then the power failed before the store knew of that; it has what the editor had a
  /// moment before. Others have deleted the same line since, together with another one.
  @Test func whatOthersDeletedFromATextThatTheEditorHadWrittenStaysDeleted() async throws {
    let (note, ben) = try await shared("tea\n")
    ben.open(uri, "tea\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    ben.change(uri, "tea\nham\nmilk\n", version: 2)
    let content = try #require(NoteDocument(note.document)).content
    try await ben.wait(for: "the milk there") { (try? note.document.text(obj: content)) == "tea\nham\nmilk\n" }
    try await ben.handle(of: note.id).flush()
    let next = try await afterACrash(of: ben, note.id, "tea\nmilk\neggs\nfigs\n") {
      try note.change { try $0.spliceText(obj: content, start: 4, delete: 9) }
    }
    try await next.wait(for: "the deletion") { next.text(of: note.id) == "tea\n" }
    next.open(
      uri, "tea\nmilk\neggs\nbread\n", reattach: true, run: "5cd1f9de6aa2aa07e472fa81aec16d69",
      opened: "tea\nmilk\neggs\n")
    try await next.wait(for: "the figs") { next.text(of: note.id)?.contains("figs") ?? false }
    #expect(next.text(of: note.id)?.split(separator: "\n").sorted() == ["bread", "eggs", "figs", "tea"])
  }

  /// The program that wrote the line had deleted another one, which others had replaced.
  @Test func aLineThatIsDeletedAsSoonAsItsFileIsMergedStaysDeleted() async throws {
    let (note, ben) = try await shared("tea\nham\nmilk\n")
    try await ben.wait(for: "the file") { ben.files[path] == Array("tea\nham\nmilk\n".utf8) }
    try await ben.pass(.seconds(5))
    let content = try #require(NoteDocument(note.document)).content
    let next = try await afterACrash(of: ben, note.id, "tea\nmilk\nbread\n") {
      try note.change { try $0.spliceText(obj: content, start: 4, delete: 4, value: "oats\n") }
    }
    try await next.wait(for: "the deletion") { next.text(of: note.id) == "tea\noats\nmilk\n" }
    next.open(uri, "tea\nmilk\nbread\n")
    next.change(uri, "tea\nmilk\n", version: 2)
    try await next.wait(for: "the note") { next.binding(uri) != nil }
    try await next.pass(.seconds(1))
    #expect(next.text(of: note.id) == "tea\noats\nmilk\n")
  }

  /// Ben's next service, which has found the note. Another program has written the file, and others have changed the note.
  private func afterACrash(
    of ben: ServiceUnderTest, _ id: DocumentId, _ file: String, _ change: () throws -> Void
  ) async throws -> ServiceUnderTest {
    world.crash("ben")
    ben.files[path] = Array(file.utf8)
    try change()
    let next = ServiceUnderTest(world, files: ben.files)
    world.connect("host", "ben")
    try await next.start()
    _ = try await next.handle(of: id)
    return next
  }

  /// The same, and the buffer is closed after the first look, which waits for what the editor may have written.
  @Test func whatWasDeletedBeforeAnyServiceHadOpenedTheBufferStaysDeletedThoughItIsClosedNext() async throws {
    let (note, ben) = try await shared("tea\n")
    ben.files[path] = Array("tea milk and honey eggs\n".utf8)
    ben.open(
      uri, "tea and honey\n", reattach: true, run: "5cd1f9de6aa2aa07e472fa81aec16d69", opened: "tea milk and honey\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    try await ben.waitAsTimeStands(for: "the first look") {
      try await ben.service.notebook.storage.loadRange([ClientBase.collection])
        .contains { $0.key.last?.hasSuffix(ClientBase.FileText.opened.rawValue) ?? false }
    }
    ben.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    try await ben.wait(for: "the eggs") { ben.text(of: note.id)?.contains("eggs") ?? false }
    #expect(ben.text(of: note.id) == "tea and honey eggs\n")
    try await ben.wait(for: "the file") { ben.files[path] == Array("tea and honey eggs\n".utf8) }
  }

  /// While no service ran, the editor saved the buffer, read the file again, and moved a line; it may have saved that,
  /// too.
  @Test(arguments: ["tea\nmilk\noat bread\n", "oat bread\ntea\nmilk\n"])
  func whatWasSavedReadAgainAndMovedStandsOnce(file: String) async throws {
    let (note, ben) = try await shared("tea\n")
    ben.files[path] = Array(file.utf8)
    ben.open(uri, "oat bread\ntea\nmilk\n", reattach: true, opened: "tea\nmilk\noat bread\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    try await ben.wait(for: "the first look") { !ben.service.openFiles.isBusy(NoteKey(note.id)) }
    try await ben.pass(.seconds(1))
    #expect(ben.text(of: note.id) == "oat bread\ntea\nmilk\n")
  }

  /// The last service had shown the client what another person typed; then the client read the file, which lacks that.
  @Test(arguments: [2, 30_000]) func whatOthersTypedStaysWhenTheFileIsReadAgain(lineCount: Int) async throws {
    let text = (1...lineCount).map { "line \($0)\n" }.joined()
    let (note, ben) = try await shared(text)
    ben.open(uri, text)
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    try append("eggs\n", to: note)
    try await ben.wait(for: "the edit") { ben.sent.contains { $0["method"] == "notes/edit" } }
    ben.send("notes/ack", ["uri": .string(uri), "version": 1, "rev": 1])
    try await ben.pass(.seconds(5))
    world.crash("ben")
    ben.files[path] = Array(text.utf8)
    let next = ServiceUnderTest(world, files: ben.files)
    world.connect("host", "ben")
    try await next.start()
    next.open(uri, text + "bread\n", reattach: true, opened: text)
    try await next.wait(for: "the note") { next.binding(uri) != nil }
    try await next.pass(.seconds(1))
    let lines = try #require(next.text(of: note.id)).split(separator: "\n")
    #expect(lines.suffix(2).sorted() == ["bread", "eggs"] && lines.count == lineCount + 2)
  }

  /// The person may also end the editor at once.
  @Test(arguments: 0..<12, [false, true])
  func whatIsSavedWhileTheBufferIsReopenedStandsOnce(turns: Int, ends: Bool) async throws {
    let (note, ben) = try await shared("tea\n")
    ben.files[path] = Array("tea\nmilk\noat bread\n".utf8)
    ben.open(uri, "oat bread\ntea\nmilk\n", reattach: true, opened: "tea\nmilk\noat bread\n")
    for _ in 0..<turns * 3 { await Task.yield() }
    ben.files[path] = Array("oat bread\ntea\nmilk\n".utf8)
    ben.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    if ends {
      ben.send("shutdown", .null, id: 9)
      try await ben.wait(for: "the end") { ben.sent.contains { $0["id"] == 9 } }
    } else {
      try await ben.wait(for: "the note") { ben.binding(uri) != nil }
      try await ben.wait(for: "the first look") { !ben.service.openFiles.isBusy(NoteKey(note.id)) }
    }
    try await ben.pass(.seconds(1))
    #expect(ben.text(of: note.id) == "oat bread\ntea\nmilk\n")
  }

  /// The editor ends, or is killed, before its buffer is a note's again.
  @Test(arguments: [false, true]) func whatNoServiceHeardIsMergedThoughTheEditorEndsAtOnce(isTold: Bool) async throws {
    let (note, ben) = try await shared("tea\n")
    ben.open(uri, "tea\nmilk\n", reattach: true, run: "5cd1f9de6aa2aa07e472fa81aec16d69", opened: "tea\n")
    if isTold {
      ben.send("shutdown", .null, id: 9)
      try await ben.wait(for: "the end") { ben.sent.contains { $0["id"] == 9 } }
    } else {
      var code: Int32?
      ben.session.onEnd = { code = $0 }
      ben.session.inputEnded()
      try await ben.wait(for: "the end") { code != nil }
    }
    #expect(ben.text(of: note.id) == "tea\nmilk\n")
  }

  @Test func aTextThatTheFileHeldBeforeIsNotTakenForSavedMeanwhile() async throws {
    let (note, ben) = try await shared("tea\n")
    let run = ben.service.run
    ben.open(uri, "tea\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    ben.change(uri, "tea\nmilk\n", version: 2)
    try await ben.wait(for: "the typed words") { ben.text(of: note.id) == "tea\nmilk\n" }
    try await ben.handle(of: note.id).flush()
    // While no service ran, the person has deleted the line again. The file has not changed for long.
    ben.open(uri, "tea\n", reattach: true, run: run)
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    try await ben.wait(for: "the deletion") { ben.text(of: note.id) == "tea\n" }
  }

  @Test func whatAnotherProcessIsJustTakingInFromTheFileStandsOnce() async throws {
    let (note, ben) = try await shared("tea\n")
    let (key, run) = (NoteKey(note.id), ben.service.run)
    ben.open(uri, "tea\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    let handle = try await ben.handle(of: note.id)
    ben.binding(uri)?.handle.storeSoon()
    try await handle.flush()
    // The editor has saved while no service ran, and its person has typed on.
    ben.files[path] = Array("tea\nmilk\n".utf8)
    ben.open(uri, "tea\nmilk\nbread\n", reattach: true, run: run)
    var other = ben.files.claim(key.lockName, exclusively: true)
    #expect(other != nil)
    let end = world.clock.now + .seconds(1)
    try await ben.wait(for: "a second") { world.clock.now >= end }
    #expect(ben.binding(uri) == nil, "the other process is not done yet")
    for word in ["milk", "eggs"] {
      try append("\(word)\n", to: note)
      try await ben.wait(for: word) { ben.text(of: note.id)?.contains(word) ?? false }
      let base = TextBase(heads: handle.document.heads(), steps: [])
      ben.service.notebook.update(key) { $0.fileBase = base }
      // That process has stored both.
      try await handle.flush()
      try await ben.service.notebook.save(key)
    }
    ben.files[path] = Array("tea\nmilk\neggs\n".utf8)
    withExtendedLifetime(other) { other = nil }
    try await ben.wait(for: "the note again") { ben.binding(uri) != nil }
    let lines = ben.text(of: note.id)?.split(separator: "\n").sorted()
    #expect(lines == ["bread", "eggs", "milk", "tea"])
  }

  /// Vim assumes that the last line of every file ends with a line feed.
  @Test(arguments: [false, true]) func aLineThatAnotherIsTypingIsNotEndedByOpeningIt(isReattached: Bool) async throws {
    let (note, ben) = try await shared("tea\nmi")
    #expect(ben.files[path] == Array("tea\nmi".utf8))
    ben.open(uri, "tea\nmi\n", reattach: isReattached, run: "5cd1f9de6aa2aa07e472fa81aec16d69")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    #expect(ben.text(of: note.id) == "tea\nmi")
    try append("lk\n", to: note)
    try await ben.wait(for: "the word") { ben.text(of: note.id) == "tea\nmilk\n" }
  }

  @Test func aLineBehindWhichAnotherOneIsTypedIsEnded() async throws {
    let (note, ben) = try await shared("tea\nmi")
    ben.open(uri, "tea\nmi\nbread\n")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    #expect(ben.text(of: note.id) == "tea\nmi\nbread\n")
  }

  @Test func whatAnotherProcessIsTakingInFromTheFileOfANewBufferStandsOnce() async throws {
    let (note, ben) = try await shared("tea\n")
    let key = NoteKey(note.id)
    let handle = try #require(ben.service.repo.handle(of: note.id))
    ben.files[path] = Array("tea\nmilk\n".utf8)
    var other = ben.files.claim(key.lockName, exclusively: true)
    #expect(other != nil)
    ben.open(uri, "tea\nmilk\n")
    let end = world.clock.now + .milliseconds(500)
    try await ben.wait(for: "half a second") { world.clock.now >= end }
    #expect(ben.binding(uri) == nil, "the other process is not done yet")
    try append("milk\n", to: note)
    try await ben.wait(for: "milk") { ben.text(of: note.id) == "tea\nmilk\n" }
    let base = TextBase(heads: handle.document.heads(), steps: [])
    ben.service.notebook.update(key) { $0.fileBase = base }
    withExtendedLifetime(other) { other = nil }
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    #expect(ben.text(of: note.id) == "tea\nmilk\n")
  }

  /// The buffer waits for a peer once more after it has been opened.
  @Test func itsNoteCanBeDeletedAtOnce() async throws {
    let (note, ben) = try await shared("tea\n")
    ben.sharing.peers = [busyPeer(with: note)]
    ben.open(uri, "tea\n", reattach: true, run: "5cd1f9de6aa2aa07e472fa81aec16d69")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    _ = try await ben.request("notes/delete", ["uri": .string(uri), "forEveryone": false])
    #expect(ben.service.notebook[note.id]?.deletedSince != nil)
  }

  /// The buffer waits for a peer until it is opened.
  @Test func itsNoteCanBeDeletedBeforeItIsOpened() async throws {
    let (note, ben) = try await shared("tea\n")
    ben.sharing.peers = [busyPeer(with: note)]
    ben.open(uri, "tea\nmilk\n", reattach: true, run: "5cd1f9de6aa2aa07e472fa81aec16d69")
    _ = try await ben.request("notes/delete", ["uri": .string(uri), "forEveryone": false])
    #expect(ben.service.notebook[note.id]?.deletedSince != nil)
    #expect(ben.binding(uri) == nil)
    #expect(ben.events("detached").map { $0["reason"] } == ["deleted"])
    #expect(ben.text(of: note.id) == "tea\nmilk\n")
  }

  @Test func whatItsPersonDeletedIsKeptBesideTheNoteIfInDoubt() async throws {
    let (note, ben) = try await shared("tea\nmilk\n")
    ben.open(uri, "tea\n", reattach: true, run: "5cd1f9de6aa2aa07e472fa81aec16d69")
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    #expect(ben.text(of: note.id) == "tea\n")
    try await ben.wait(for: "a copy") { !ben.events("recovered").isEmpty }
    #expect(try await ben.recoveredTexts() == ["tea\nmilk\n"])
  }
}
