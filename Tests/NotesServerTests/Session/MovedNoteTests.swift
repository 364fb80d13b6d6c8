import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A note that moves to another document during a request.
@AutomergeRepo struct MovedNoteTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 29)))

  /// The store still has the file's old place: the move is being stored.
  @Test func openingItDoesNotBringTheOldOneBack() async throws {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let old = try await ana.handle(of: id)
    let new = try ana.service.makeSuccessor(of: old)
    ana.service.notebook.update(id) {
      ($0.path, $0.fileBase, $0.successor, $0.deletedSince) = (nil, nil, new.id, world.clock.date)
    }
    let record = try await ana.service.makeWorkingFile(for: old, title: "Shopping", directory: "/notes")
    #expect(record.successor == new.id)
    #expect(ana.service.notebook.latest(id) == new.id)
    #expect(ana.events("restored").isEmpty)
  }

  /// Guests follow a move only if it names few heads.
  @Test func theNewDocumentHasOneHeadHoweverManyTheOldOneHas() async throws {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let old = try await ana.handle(of: id)
    try old.take(try Document.changes(onTopOf: old.document, count: 1100))
    #expect(old.document.heads().count == 1100)
    let new = try ana.service.makeSuccessor(of: old)
    #expect(new.document.heads().count == 1)
    #expect(new.document.unknown(old.document.heads()).isEmpty && ana.text(of: new.id) == "tea\n")
  }

  /// From a document of several texts, changes on top of the removed person's words are not brought: the service keeps
  /// the text as it was.
  @Test func wordsInAMeetingOnTopOfThoseThatStayOutAreKept() async throws {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    _ = try await ana.request(
      "notes/addItem", ["id": .string(id.description), "title": "Cups", "text": "cups\n"])
    let old = try await ana.handle(of: id)
    let new = try ana.service.makeSuccessor(of: old)
    let heads = old.document.heads()

    // Ben, who is removed, still writes, and Ana writes after his words.
    let bens = old.document.fork()
    try write("his ", bens)
    try old.take(bens.encodeChangesSince(heads: heads))
    try old.change { _ in try write("hers ", old.document) }
    let ben = Array(bens.actor.data.prefix(8))
    ana.service.mover.follow(
      NoteMove(document: id, successor: new.id, heads: heads, host: PeerId("carol"), removedAuthors: [ben]))
    try await ana.wait(for: "the move") { ana.service.notebook.latest(id) == new.id }
    try await ana.pass(.seconds(3))
    #expect(MeetingDocument(new.document)?.items.first.flatMap { try? text(of: $0, new.document) } == "cups\n")
    #expect(try await ana.recoveredTexts().map { $0.contains("hers his cups") } == [true])

    // Another process of hers, which does not know yet, writes once more.
    let late = old.document.fork(), before = old.document.heads()
    late.actor = try #require(ActorId(data: ana.service.identity.actor.data.prefix(8) + Data(repeating: 7, count: 8)))
    try write("late ", late)
    try old.take(late.encodeChangesSince(heads: before))
    try await ana.pass(.seconds(3))
    #expect(try await ana.recoveredTexts().count { $0.contains("late hers his cups") } == 1)
    #expect(try await ana.recoveredTexts().count == 2)
  }

  private func write(_ words: String, _ document: Document) throws {
    let item = try #require(MeetingDocument(document)?.items.first?.discussion)
    try document.spliceText(obj: item, utf8Offset: 0, deleteUTF8: 0, insert: Array(words.utf8))
  }

  private func text(of item: MeetingDocument.Item, _ document: Document) throws -> String? {
    try item.discussion.map { try document.text(obj: $0) }
  }
}
