import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A buffer and its document: each side's changes reach the other.
@AutomergeRepo struct BufferBindingTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 12)))
  private let uri = "file:///notes/Shopping.md"

  /// Ana's own note, open in her editor.
  private func opened(_ text: String = "tea\n") async throws -> (ServiceUnderTest, BufferBinding) {
    let ana = ServiceUnderTest(world, "ana")
    try await ana.start()
    _ = try await ana.request("notes/create", ["title": "Shopping", "text": .string(text)])
    ana.open(uri, text)
    try await ana.wait(for: "the note") { ana.binding(uri) != nil }
    return (ana, try #require(ana.binding(uri)))
  }

  private func write(_ text: String, into binding: BufferBinding) throws {
    let content = binding.note.content
    let peer = binding.handle.document.fork()
    try peer.spliceText(obj: content, utf8Offset: 0, deleteUTF8: 0, insert: Array(text.utf8))
    peer.commitWith(message: nil, timestamp: world.clock.date)
    try binding.handle.merge(peer)
  }

  @Test func whatTheEditorTypesIsInTheDocumentInTheSameTurn() async throws {
    let (ana, binding) = try await opened()
    ana.change(uri, "tea\nmilk\n", version: 2)
    #expect(ana.text(of: binding.id) == "tea\nmilk\n")
    #expect(String(decoding: binding.clientText, as: UTF8.self) == "tea\nmilk\n")
  }

  @Test func whatAPeerWritesReachesTheEditorAsOneEdit() async throws {
    let (ana, binding) = try await opened()
    try write("bread\n", into: binding)
    let edits = ana.sent.filter { $0["method"] == "notes/edit" }.compactMap { $0["params"] }
    #expect(edits.count == 1)
    #expect(edits.first?["edits"]?[0]?["newText"] == "bread\n")
    #expect(String(decoding: binding.clientText, as: UTF8.self) == "bread\ntea\n")
  }

  /// The client's text is a base of its own: the service does not treat the peer's words as deleted.
  @Test func aFullTextThatLacksAnEditStillOnItsWayDeletesNothing() async throws {
    let (ana, binding) = try await opened()
    try write("bread\n", into: binding)
    ana.change(uri, "tea\nmilk\n", version: 2)
    #expect(ana.text(of: binding.id) == "bread\ntea\nmilk\n")
  }

  @Test func theWordsAreCountedAgainWhenTheTextHasRestedAndTheEditorIsTold() async throws {
    let (ana, binding) = try await opened()
    ana.change(uri, "tea\nmilk and bread\n", version: 2)
    try await ana.wait(for: "the count") {
      ana.sent.contains { $0["method"] == "notes/statusChanged" && $0["params"]?["words"] == 4 }
    }
    #expect(ana.service.notebook[binding.key]?.words == 4)
    try write("eggs\n", into: binding)
    try await ana.wait(for: "the count to include the peer's words") {
      ana.sent.contains { $0["method"] == "notes/statusChanged" && $0["params"]?["words"] == 5 }
    }
  }

  @Test func aChangeThatFitsNoKnownTextIsAnsweredWithARequestForTheFullText() async throws {
    let (ana, binding) = try await opened()
    ana.send("textDocument/didChange", ["textDocument": ["uri": .string(uri), "version": 2], "notes": ["rev": 99]])
    #expect(ana.sent.contains { $0["method"] == "notes/resync" })
    #expect(ana.text(of: binding.id) == "tea\n")
  }

  @Test func aClosedBufferLeavesItsFileToTheWorkingFileSync() async throws {
    let (ana, binding) = try await opened()
    let id = binding.id
    ana.change(uri, "tea\nmilk\n", version: 2)
    ana.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
    #expect(!ana.service.isOpen(id))
    try await ana.wait(for: "the file") { ana.files["/notes/Shopping.md"] == Array("tea\nmilk\n".utf8) }
  }

  @Test func whatAnotherProgramWritesToTheFileOfAnOpenNoteReachesTheEditor() async throws {
    let (ana, binding) = try await opened()
    // Now the service knows what the file contains.
    ana.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]])
    try await ana.wait(for: "the file") { !binding.file.isBusy }
    ana.files["/notes/Shopping.md"] = Array("tea\neggs\n".utf8)
    binding.file.changed()
    try await ana.wait(for: "eggs") { ana.text(of: binding.id) == "tea\neggs\n" }
    #expect(String(decoding: binding.clientText, as: UTF8.self) == "tea\neggs\n")
  }
}
