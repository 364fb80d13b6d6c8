import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Another person gives an open note another title.
@AutomergeRepo struct TitleNewsTests {
  private let ana: ServiceUnderTest
  private let uri = "file:///notes/Shopping.md"
  private let handle: DocHandle

  init() async throws {
    ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 37))), "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    handle = try await ana.handle(of: #require(made["id"]?.stringValue.flatMap { DocumentId($0) }))
    ana.open(uri, "tea\n")
    try await ana.wait(for: "the buffer to be the note") { [ana, uri] in ana.binding(uri) != nil }
  }

  private var lines: [String] { ana.events("renamed").compactMap { $0["message"]?.stringValue } }

  /// Another person's change; with a name, the document names its author.
  private func change(as name: String? = "Ben", _ edit: (NoteDocument) throws -> Void) throws {
    let copy = handle.document.fork(), heads = handle.document.heads()
    let note = try #require(NoteDocument(copy))
    if let name { try note.enter(person: NoteAuthors.person(of: copy.actor), name: name) }
    try edit(note)
    try handle.take(copy.encodeChangesSince(heads: heads))
  }

  @Test func itIsToldInOneLineThatNamesThePerson() throws {
    try change { try $0.rename(to: "Groceries") }
    #expect(lines == ["Ben (claimed, unverified) renamed \"Shopping\" to \"Groceries\""])
    #expect(ana.events("renamed").compactMap { $0["title"]?.stringValue }.allSatisfy { $0 == "Groceries" })
  }

  @Test func aTitleThatHasOnlyLostLettersIsNoPersons() throws {
    try change { try $0.rename(to: "Shop") }
    #expect(lines == ["\"Shopping\" is now \"Shop\""])
  }

  @Test func itIsToldTooIfTheTextChangedInTheSameMoment() throws {
    try change {
      try $0.rename(to: "Groceries")
      try $0.document.spliceText(obj: $0.content, utf8Offset: 0, deleteUTF8: 0, insert: Array("green ".utf8))
    }
    #expect(lines.count == 1)
  }

  @Test func aTitleOfOnesOwnIsNoNews() async throws {
    _ = try await ana.request("notes/rename", ["uri": .string(uri), "title": "Groceries"])
    #expect(lines == [])
    #expect(ana.service.notebook[handle.id]?.title == "Groceries")
  }

  @Test(arguments: ["Shopping", String(repeating: "Shopping ", count: 30)])
  func theLineFitsAStatusLine(title: String) throws {
    try change(as: String(repeating: "B", count: 70)) { try $0.rename(to: title + "!") }
    try change(as: String(repeating: "B", count: 70)) { try $0.rename(to: title + "!?") }
    #expect(lines.count == 2 && lines.allSatisfy { $0.count <= NoteNews.maximumMessageLength })
  }
}
