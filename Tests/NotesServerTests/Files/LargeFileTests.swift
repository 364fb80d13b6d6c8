import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// A large note that no editor has open, and its file: the process recognises what it wrote itself.
@AutomergeRepo struct LargeFileTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 5)))
  private let path = "/notes/Shopping.md"
  private let lines = (0..<4000).map { "line number \($0)\n" }.joined()

  private func host(_ text: String) throws -> DocHandle {
    let host = world.start("host")
    let document = Document(textEncoding: .utf8)
    _ = try NoteDocument(new: document, title: "Shopping", text: Array(text.utf8), created: world.clock.date)
    document.commitWith(message: nil, timestamp: world.clock.date)
    return try host.create(document)
  }

  private func file(_ user: ServiceUnderTest) -> String {
    user.files[path].map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  @Test func whatOthersAndOtherProgramsWriteComesTogetherInTheFile() async throws {
    let note = try host(lines)
    let ben = ServiceUnderTest(world)
    try await ben.start()
    world.connect("host", "ben")
    _ = try await ben.request("notes/open", ["id": .string(note.id.description)])
    #expect(file(ben) == lines)
    var words = ""
    for round in 0..<4 {
      try note.splice(0, "host \(round)\n")
      words = "host \(round)\n" + words
      try await ben.wait(for: "the host's words") { self.file(ben) == words + self.lines }
      guard round % 2 == 1 else { continue }
      // Another program changes the file that the service wrote; then the service writes it again with the host's next
      // words.
      ben.files[path] = Array((words + "mine \(round)\n" + String(file(ben).dropFirst(words.count))).utf8)
      words += "mine \(round)\n"
      try note.splice(0, "also \(round)\n")
      words = "also \(round)\n" + words
      try await ben.wait(for: "both") { self.file(ben) == words + self.lines }
      try await ben.wait(for: "the same at the host") { (try? note.document.content()) == words + self.lines }
    }
    #expect(try await ben.recoveredTexts().isEmpty)
  }

  @Test func onlyWhatWasWrittenForThisStateOfTheNoteIsKnownAgain() async throws {
    let document = Document(textEncoding: .utf8)
    let note = try NoteDocument(new: document, title: "Shopping", text: Array(lines.utf8), created: world.clock.date)
    document.commitWith(message: nil, timestamp: world.clock.date)
    let bytes = Array(lines.utf8)
    let base = TextBase(writing: bytes, .identity, at: document.heads(), of: note)
    let written = await WrittenFile(bytes, base)
    let contents = try FileContents(reading: bytes)
    #expect(await written.isStill(contents, base, of: note))
    #expect(await !written.isStill(try FileContents(reading: bytes + [0x0A]), base, of: note))
    #expect(await !written.isStill(contents, nil, of: note))
    var earlier = base
    earlier.heads = []
    #expect(await !written.isStill(contents, earlier, of: note))
    var moved = base
    moved.object = "another"
    #expect(await !(WrittenFile(bytes, moved)).isStill(contents, moved, of: note))
  }
}
