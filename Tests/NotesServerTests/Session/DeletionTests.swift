import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// The editor's news when its person deletes a note.
@AutomergeRepo @Suite(.serialized) struct DeletionTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 23)))
  private let uri = "file:///notes/Shopping.md"
}

extension DeletionTests {
  /// A service with the open note "Shopping".
  private func serviceWithNote() async throws -> (ServiceUnderTest, DocumentId) {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    ana.open(uri, "tea\n")
    try await ana.wait(for: "the buffer to be the note") { ana.binding(uri) != nil }
    return (ana, try #require(made["id"]?.stringValue.flatMap { DocumentId($0) }))
  }

  @Test func aDeletionIsToldWhenItIsStoredSoThatItCanBeTakenBack() async throws {
    let (ana, id) = try await serviceWithNote()
    var wasDeleted: [Bool] = []
    ana.onMessage = { message in
      guard message["params"]?["kind"] == "detached" else { return }
      wasDeleted.append(ana.service.notebook[id]?.deletedSince != nil && ana.files["/notes/Shopping.md"] == nil)
    }
    _ = try await ana.request("notes/delete", ["uri": .string(uri), "forEveryone": false])
    #expect(wasDeleted == [true])
    #expect(ana.events("detached").map { $0["reason"] } == ["deleted"])
    _ = try await ana.request("notes/undelete", ["id": .string(id.description)])
    #expect(ana.text(of: id) == "tea\n")
  }

  /// The record of the note is back before its file is, and the editor attaches its buffer at that moment.
  @Test(arguments: [false, true]) func wordsStandOnceInANoteThatComesBackBeforeItsFile(typesMeanwhile: Bool)
    async throws
  {
    let (ana, id) = try await serviceWithNote()
    let known = try #require(ana.service.notebook[id])
    ana.change(uri, "tea\nmilk\n", version: 2)
    try await ana.wait(for: "the typed words") { ana.text(of: id) == "tea\nmilk\n" }
    _ = try await ana.request("notes/delete", ["uri": .string(uri), "forEveryone": false])
    // Another process wrote the file last, and this one does not know.
    ana.service.notebook.update(id) { $0.takeBase(of: known) }
    if typesMeanwhile { ana.change(uri, "tea\nmilk\nbread\n", version: 3) }
    let handle = try await ana.handle(of: id)
    let peer = try #require(NoteDocument(handle.document.fork()))
    let others = Array("eggs and flour\n".utf8)
    try peer.document.spliceText(obj: peer.content, utf8Offset: 0, deleteUTF8: 0, insert: others)
    try handle.take(peer.document.encodeChangesSince(heads: handle.document.heads()))
    ana.files.onCreate.withLock {
      $0 = { [uri] _ in while await ana.binding(uri) == nil { await Task.yield() } }
    }
    _ = try await ana.request("notes/undelete", ["id": .string(id.description)])
    let own = typesMeanwhile ? "tea\nmilk\nbread\n" : "tea\nmilk\n"
    #expect(ana.text(of: id) == "eggs and flour\n" + own)
  }

  @Test func aDeletionThatFailsLeavesTheBufferANote() async throws {
    let (ana, id) = try await serviceWithNote()
    let other = try #require(ana.files.claim(NoteKey(id).lockName, exclusively: false))
    await #expect(throws: ResponseError.self) {
      _ = try await ana.request("notes/delete", ["uri": .string(uri), "forEveryone": false])
    }
    withExtendedLifetime(other) {}
    try await ana.wait(for: "the buffer to be the note again") { ana.binding(uri) != nil }
    #expect(ana.events("detached").isEmpty)
    ana.change(uri, "tea\nmilk\n", version: 2)
    try await ana.wait(for: "the typed words") { ana.text(of: id) == "tea\nmilk\n" }
  }

  /// Another process of the person updates the file, because the one that had the note open has died.
  @Test func aFileThatIsLookedAtForAMomentIsNoReasonToRefuseADeletion() async throws {
    let (ana, id) = try await serviceWithNote()
    // Another process holds the file, which keeps it from being removed, as an open buffer does.
    var other = ana.files.claim(NoteKey(id).lockName, exclusively: false)
    ana.files["/notes/Shopping.md"] = Array("tea\nmilk\n".utf8)
    let end = world.clock.now + .milliseconds(500)
    world.clock.schedule(after: .milliseconds(500)) { other = nil }
    _ = try await ana.request("notes/delete", ["uri": .string(uri), "forEveryone": false])
    #expect(world.clock.now >= end)
    #expect(ana.text(of: id) == "tea\nmilk\n")
    withExtendedLifetime(other) {}
  }

  /// A second event used to replace the first one, which named the editor's command.
  @Test func aDeletionByOthersIsToldOnceThoughMoreOfTheNoteComesMeanwhile() async throws {
    let (ana, id) = try await serviceWithNote()
    let handle = try await ana.handle(of: id)
    let peer = handle.document.fork()
    try NoteDocument.setDeletion(world.clock.date, of: peer)
    try handle.take(peer.encodeChangesSince(heads: handle.document.heads()))
    ana.service.fileSync.plan(handle)
    try peer.put(obj: .ROOT, key: "more", value: .Int(1))
    try handle.take(peer.encodeChangesSince(heads: handle.document.heads()))
    try await ana.service.fileSync.synchronize(handle)
    try await ana.wait(for: "the file to be gone") { ana.files["/notes/Shopping.md"] == nil }
    let later = world.clock.now + .seconds(3)
    try await ana.wait(for: "any further news") { world.clock.now >= later }
    #expect(ana.events("detached").map { $0["reason"] } == ["deletedForEveryone"])
    #expect(ana.events("deleted").allSatisfy { $0["message"] == nil }, "told again")
    #expect(ana.service.notebook[id]?.leftPath == "/notes/Shopping.md", "the buffer that stayed gets its file back")
  }

  /// The buffer used to look like the note for good, and what was typed went nowhere.
  @Test func aNoteWhoseFileCannotBeRemovedStaysANote() async throws {
    let (ana, id) = try await serviceWithNote()
    ana.files.isFixed.withLock { $0 = true }
    await #expect(throws: ResponseError.self) {
      try await ana.request("notes/delete", ["uri": .string(uri), "forEveryone": false])
    }
    #expect(ana.service.notebook[id]?.deletedSince == nil && ana.files["/notes/Shopping.md"] != nil)
    try await ana.wait(for: "the buffer to be the note") { ana.binding(uri) != nil }
    ana.change(uri, "tea\nmilk\n", version: 2)
    try await ana.wait(for: "the typed words") { ana.text(of: id) == "tea\nmilk\n" }
    ana.files.isFixed.withLock { $0 = false }
    _ = try await ana.request("notes/delete", ["uri": .string(uri), "forEveryone": false])
    #expect(ana.service.notebook[id]?.deletedSince != nil && ana.files["/notes/Shopping.md"] == nil)
  }

  @Test func aDeletionByOthersIsFollowedThoughTheFileCannotBeRemoved() async throws {
    let (ana, id) = try await serviceWithNote()
    let handle = try await ana.handle(of: id)
    ana.files.isFixed.withLock { $0 = true }
    let peer = handle.document.fork()
    try NoteDocument.setDeletion(world.clock.date, of: peer)
    try handle.take(peer.encodeChangesSince(heads: handle.document.heads()))
    ana.service.fileSync.plan(handle)
    try await ana.wait(for: "the deletion") { ana.service.notebook[id]?.deletionSeen != nil }
    try await ana.pass(.seconds(20))
    #expect(ana.service.notebook[id]?.deletedSince != nil && ana.files["/notes/Shopping.md"] != nil)
    #expect(ana.events("detached").map { $0["reason"] } == ["deletedForEveryone"])
    let messages = ana.sent.filter { $0["method"] == "window/showMessage" }.map { $0["params"]?["message"] }
    #expect(messages == ["Shopping.md could not be removed"])
  }

  /// A buffer that became the note's after the news showed "synced" for good, and typing went nowhere.
  @Test(arguments: [true, false]) func aNoteThatIsDeletedByOthersWhileItIsOpenedIsNoNoteAfterwards(
    reattached: Bool
  ) async throws {
    let (ana, id) = try await serviceWithNote()
    ana.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    try await ana.wait(for: "the buffer to be closed") { ana.binding(uri) == nil }
    var isSettled = false
    world.clock.schedule(after: .seconds(3)) { isSettled = true }
    try await ana.wait(for: "the file to be looked at after that") { isSettled }
    let handle = try await ana.handle(of: id)
    // The service holds the file and looks at it, before it removes it, when the editor opens the buffer.
    ana.files.onLook.withLock {
      $0 = { @AutomergeRepo [uri, files = ana.files] _ in
        guard NoteDocument.deletion(of: handle.document) != nil else { return }
        files.onLook.withLock { $0 = { _ in } }
        ana.open(uri, "tea\nmilk\n", reattach: reattached)
        for _ in 0..<100 { await Task.yield() }
      }
    }
    let peer = handle.document.fork()
    try NoteDocument.setDeletion(world.clock.date, of: peer)
    try handle.take(peer.encodeChangesSince(heads: handle.document.heads()))
    ana.service.fileSync.plan(handle)
    try await ana.wait(for: "the news") { !ana.events("detached").isEmpty }
    try await ana.wait(for: "the file to be gone") { ana.files["/notes/Shopping.md"] == nil }
    isSettled = false
    world.clock.schedule(after: .seconds(3)) { isSettled = true }
    try await ana.wait(for: "any further news") { isSettled }
    #expect(ana.events("detached").map { $0["reason"] } == ["deletedForEveryone"])
    #expect(ana.binding(uri) == nil)
    // What was typed meanwhile comes back with the note.
    #expect(ana.text(of: id) == "tea\nmilk\n")
  }

  /// The item disappears from the document while its buffer is open, or is being opened.
  @Test(arguments: [true, false]) func anItemThatIsDeletedWhileItIsOpenIsKeptAndToldOnce(isOpen: Bool) async throws {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    let item = try await ana.request(
      "notes/addItem", ["id": made["id"] ?? .null, "title": "Drinks", "text": "tea\n"])
    let uri = try #require(item["uri"]?.stringValue)
    let path = try #require(URL(string: uri)?.path)
    try await ana.wait(for: "the item's file") { ana.files[path] == Array("tea\n".utf8) }
    // A buffer that is reattached waits for another process's news of its file.
    ana.open(uri, "tea\n", reattach: !isOpen)
    if isOpen { try await ana.wait(for: "the buffer to be the item") { ana.binding(uri) != nil } }
    #expect((ana.binding(uri) != nil) == isOpen)
    _ = try await ana.request("notes/delete", ["uri": .string(uri)])
    try await ana.wait(for: "the file to be gone") { ana.files[path] == nil }
    let later = world.clock.now + .seconds(3)
    try await ana.wait(for: "any further news") { world.clock.now >= later }
    #expect(ana.events("detached").map { $0["reason"] } == ["itemDeleted"])
    #expect(ana.events("recovered").isEmpty)
    #expect(try await ana.recoveredTexts() == ["tea\n"])
  }
}
