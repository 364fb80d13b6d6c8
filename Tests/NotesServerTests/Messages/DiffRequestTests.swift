import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

@AutomergeRepo struct DiffRequestTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 8)))

  private func json(_ heads: Set<ChangeHash>) -> JSONValue { JSONValue(heads.map(\.description).sorted()) }

  private func edit(_ document: Document, _ step: TextDelta) throws {
    let note = try #require(NoteDocument(document))
    try note.make(step.splices)
    document.commitWith(message: nil, timestamp: world.clock.date)
  }

  /// Ana and Ben write between the two states. Ben has more than the later one.
  @Test(arguments: [true, false]) func aStretchOfTheHistoryNamesTheAuthorOfEachLine(isAnaThere: Bool) async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "tea\n1\n2\nham\n3\n4\nend\n"])
    let handle = try await ben.handle(of: try #require(made["id"]?.stringValue.flatMap { DocumentId($0) }))
    let before = handle.document.heads()
    let ana = handle.document.fork()
    ana.actor = try #require(ActorId(hexadecimal: String(repeating: "ab", count: 16)))
    try edit(handle.document, TextDelta(utf8Offset: 0, deleted: [], inserted: Array("milk\n".utf8)))
    try edit(handle.document, TextDelta(utf8Offset: 17, deleted: Array("3\n".utf8), inserted: []))
    if isAnaThere {
      try edit(ana, TextDelta(utf8Offset: 8, deleted: [], inserted: Array("eggs\n".utf8)))
      try handle.document.merge(other: ana)
    }
    let after = handle.document.heads()
    try edit(handle.document, TextDelta(utf8Offset: 0, deleted: Array("milk\n".utf8), inserted: []))
    let diff = try await ben.request(
      "notes/diff",
      [
        "id": .string(handle.id.description), "from": json(before), "to": json(after), "lines": true,
        "author": "the row",
      ])
    let lines = (diff["lines"]?.arrayValue ?? []).compactMap(\.stringValue)
    #expect(lines.filter { !$0.hasPrefix("@@") } == ["+milk"] + (isAnaThere ? ["+eggs"] : []) + ["-3"])
    let places = lines.filter { $0.hasPrefix("@@") }
    #expect(places.first?.contains("ben") ?? false)
    // Who deleted the line is certain if only one person wrote.
    #expect(places.last?.contains("the row") == !isAnaThere)
    if isAnaThere { #expect(places[1].contains("abababab")) }
  }

  @Test func linesOfTwoPeopleBesideEachOtherHaveTheirOwnAuthors() async throws {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": "end\n"])
    let handle = try await ben.handle(of: try #require(made["id"]?.stringValue.flatMap { DocumentId($0) }))
    let before = handle.document.heads()
    let ana = handle.document.fork()
    ana.actor = try #require(ActorId(hexadecimal: String(repeating: "ab", count: 16)))
    try edit(handle.document, TextDelta(utf8Offset: 0, deleted: [], inserted: Array("milk\n\nham\n".utf8)))
    try edit(ana, TextDelta(utf8Offset: 0, deleted: [], inserted: Array("eggs\n".utf8)))
    try handle.document.merge(other: ana)
    let diff = try await ben.request(
      "notes/diff", ["id": .string(handle.id.description), "from": json(before), "lines": true, "author": "the row"])
    var authors: [String: String] = [:], author = ""
    for line in (diff["lines"]?.arrayValue ?? []).compactMap(\.stringValue) {
      if line.hasPrefix("@@") { author = line } else { authors[line] = author }
    }
    #expect(Set(authors.keys) == ["+milk", "+", "+ham", "+eggs"])
    #expect(["+milk", "+", "+ham"].allSatisfy { authors[$0]?.hasSuffix("@@ ben") ?? false }, "\(authors)")
    #expect(authors["+eggs"]?.contains("abababab") ?? false)
  }
}
