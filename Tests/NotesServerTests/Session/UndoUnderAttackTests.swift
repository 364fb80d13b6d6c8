import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// No message of a guest, even under another name, makes a person's undo remove other people's words, or the person's
/// earlier ones.
@AutomergeRepo struct UndoUnderAttackTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 51)))
  private let uri = "file:///notes/Shopping.md"

  /// Ana has typed "bread" below "tea".
  private func opened() async throws -> (ServiceUnderTest, DocHandle) {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    ana.open(uri, "tea\n")
    try await ana.wait(for: "the note") { ana.binding(uri)?.undo.isLoading == false }
    ana.change(uri, "tea\nbread\n", version: 2)
    let handle = try await ana.handle(of: id)
    #expect(try text(handle) == "tea\nbread\n")
    return (ana, handle)
  }

  /// Applies a change of another person.
  private func take(into handle: DocHandle, as actor: ActorId = ActorId(), _ change: (Document) throws -> Void) throws {
    let theirs = handle.document.fork(), heads = handle.document.heads()
    theirs.actor = actor
    try change(theirs)
    theirs.commitWith(message: nil)
    try handle.take(theirs.encodeChangesSince(heads: heads))
  }

  private func write(_ words: String, at offset: Int, deleting count: Int = 0, in document: Document) throws {
    let text = try #require(NoteDocument(document)).content
    try document.spliceText(obj: text, utf8Offset: offset, deleteUTF8: count, insert: Array(words.utf8))
  }

  private func go(_ direction: String, _ ana: ServiceUnderTest, count: Int = 1) async throws {
    let id = ana.sent.count + 100
    ana.send("notes/" + direction, ["uri": .string(uri), "version": 2, "rev": 0, "count": JSONValue(count)], id: id)
    try await ana.wait(for: "the answer") { ana.sent.contains { $0["id"]?.intValue == id } }
  }

  private func text(_ handle: DocHandle) throws -> String {
    try handle.document.text(obj: try #require(NoteDocument(handle.document)).content)
  }

  @Test func whatAGuestDoesToOnesWordsIsNotTakenBackWithThem() async throws {
    let (ana, handle) = try await opened()
    // The guest writes into the word and around it, and replaces its end.
    try take(into: handle) { try write("!", at: 6, in: $0) }
    try take(into: handle) { try write("eggs\n", at: 4, in: $0) }
    try take(into: handle) { try write("jam", at: 13, deleting: 2, in: $0) }
    #expect(try text(handle) == "tea\neggs\nbr!ejam\n")
    try await go("undo", ana, count: 1_000)
    #expect(try text(handle) == "tea\neggs\n!jam")
    try await go("redo", ana)
    #expect(try text(handle) == "tea\neggs\nbr!ejam\n", "what the guest has deleted stays deleted")
  }

  /// The records of this person's processes decide which words are the person's, not the author that a change names.
  @Test(arguments: [true, false]) func wordsInOnesNameAreNotUndoneWithOnesOwn(isDeletion: Bool) async throws {
    let (ana, handle) = try await opened()
    try take(into: handle) { try write("milk\n", at: 4, in: $0) }
    let earlier = try #require(ActorId(data: ana.service.identity.actor.data.prefix(8) + Data(repeating: 7, count: 8)))
    try take(into: handle, as: earlier) {
      try write(isDeletion ? "" : "gold\n", at: 4, deleting: isDeletion ? 5 : 0, in: $0)
    }
    try await go("undo", ana, count: 1_000)
    #expect(try text(handle) == (isDeletion ? "tea\n" : "tea\ngold\nmilk\n"))
    try await go("redo", ana, count: 1_000)
    #expect(try text(handle) == (isDeletion ? "tea\nbread\n" : "tea\ngold\nmilk\nbread\n"))
  }

  /// A flood of changes between two of the person's words neither joins them into one step nor makes a step that
  /// removes more.
  @Test func aFloodOfChangesMovesNothingIntoOnesSteps() async throws {
    let (ana, handle) = try await opened()
    for number in 0..<1_100 { try take(into: handle) { try write("\(number % 10)", at: 0, in: $0) } }
    let flood = String(try text(handle).prefix { $0.isNumber })
    #expect(flood.count == 1_100)
    try await go("undo", ana)
    #expect(try text(handle) == flood + "tea\n")
    try await go("undo", ana, count: 1_000)
    #expect(try text(handle) == flood + "tea\n")
  }
}
