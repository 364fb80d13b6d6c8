import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A file that cannot be read for a moment, because a link to a device is in its place.
@AutomergeRepo struct FailedReadTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 31)))
  private let path = "/notes/Full.md"

  @Test func aBufferWaitsForAStoreThatCannotBeReadAndIsTheNoteThen() async throws {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let uri = "file://" + path
    let made = try await ana.request("notes/create", ["title": "Full", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let store = try #require(world.stores["ana"])
    store.failLoads(true)
    ana.files[path] = Array("tea\nmilk\n".utf8)
    ana.open(uri, "tea\nmilk\n")
    try await ana.wait(for: "the news") { !ana.events("waiting").isEmpty }
    ana.change(uri, "tea\nmilk\nbread\n", version: 2)
    try await ana.pass(.seconds(3))
    #expect(ana.events("detached").isEmpty)
    #expect(ana.events("waiting").count == 1)
    store.failLoads(false)
    try await ana.wait(for: "the note") { ana.binding(uri) != nil }
    #expect(ana.text(of: id) == "tea\nmilk\nbread\n")
  }

  /// It used to become a plain file's, or to be compared with a guess.
  @Test(arguments: [nil, "tea\n"])
  func aBufferThatOutlivedItsServiceWaitsForAStoreThatCannotBeRead(opened: String?) async throws {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let uri = "file://" + path
    let made = try await ana.request("notes/create", ["title": "Full", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let store = try #require(world.stores["ana"])
    store.failLoads(true)
    ana.open(uri, "tea\nmilk\n", reattach: true, run: "ab", opened: opened)
    try await ana.pass(.seconds(15))
    #expect(ana.events("detached").isEmpty && ana.binding(uri) == nil)
    store.failLoads(false)
    try await ana.wait(for: "the note") { ana.binding(uri) != nil }
    #expect(ana.text(of: id) == "tea\nmilk\n")
  }

  @Test func whatWasSavedWhenTheFileCouldNotBeReadStandsOnceAfterItIsReadAgain() async throws {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let uri = "file://" + path
    let made = try await ana.request("notes/create", ["title": "Full"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let opened = String(decoding: try #require(ana.files[path]), as: UTF8.self)
    ana.open(uri, opened)
    try await ana.wait(for: "the buffer to be the note") { ana.binding(uri) != nil }
    ana.change(uri, "saved\n", version: 2)
    ana.files[path] = Array("saved\n".utf8)
    ana.files.unreadable.withLock { _ = $0.insert(path) }
    ana.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    ana.change(uri, "saved and not saved\n", version: 3)
    try await ana.wait(for: "the typed words") { ana.text(of: id) == "saved and not saved\n" }
    let later = world.clock.now + .seconds(1)
    try await ana.wait(for: "the attempt to read the file") { world.clock.now >= later }

    ana.files.unreadable.withLock { $0 = [] }
    ana.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    ana.open(uri, "saved\n")
    try await ana.wait(for: "the buffer to be the note again") { ana.binding(uri) != nil }
    #expect(ana.text(of: id) == "saved and not saved\n")
  }
}
