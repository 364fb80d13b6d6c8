import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// What a command that has joined a note waits for.
@AutomergeRepo struct CommandWaitTests {
  private let path = "/notes/Tea.md"

  /// Looks for other processes first, which takes time.
  private func isFileCurrent(_ id: DocumentId, _ ana: ServiceUnderTest) async throws -> Bool {
    var answer: Bool?
    let task = Task { @AutomergeRepo in answer = try await ana.session.isFileCurrent(id) }
    try await ana.wait(for: "the answer") { answer != nil }
    try await task.value
    return answer ?? false
  }

  /// The file has less than the note, as while it is about to be written, or while an editor has words that it has not
  /// saved.
  @Test func theFileOfANoteThatAnEditorHasOpenIsNotWaitedFor() async throws {
    let ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 13))), "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Tea", "text": "green\n"])
    let id = try #require(DocumentId(made["id"]?.stringValue))
    #expect(try await isFileCurrent(id, ana))
    ana.files.write(path, "gre\n")
    #expect(try await !isFileCurrent(id, ana), "it is about to be written")
    let lock = NoteKey(id).lockName
    do {
      let writer = ana.files.claim(lock, exclusively: true)
      #expect(try await !isFileCurrent(id, ana), "it is being written")
      withExtendedLifetime(writer) {}
    }
    let editor = ana.files.claim(lock, exclusively: false)
    #expect(try await isFileCurrent(id, ana))
    withExtendedLifetime(editor) {}
  }
}
