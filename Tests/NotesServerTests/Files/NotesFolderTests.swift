import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

struct NotesFolderTests {
  @Test func filesOfALinkedFolderHaveTheNameThatThePersonGaveIt() {
    let folder = NotesFolder("/home/ana/notes", realPath: "/disk/notes")
    #expect(folder.named("/disk/notes/a/Plan.md") == "/home/ana/notes/a/Plan.md")
    for other in ["/disk/notes", "/disk/notes2/Plan.md", "/disk/Plan.md", "/home/ana/notes/Plan.md"] {
      #expect(folder.named(other) == other)
    }
    #expect(NotesFolder("/notes").named("/notes/Plan.md") == "/notes/Plan.md")
    #expect(folder.places(uri: "file:///disk/notes/Plan.md") == ["/disk/notes/Plan.md", "/home/ana/notes/Plan.md"])
    #expect(folder.place(uri: "file:///disk/notes/Plan.md") == "/home/ana/notes/Plan.md")
    #expect(folder.place(uri: "untitled:1") == nil)
  }

  @Test @AutomergeRepo func aNoteOfALinkedFolderIsOpenedAdoptedAndHeardOfByItsRealPath() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 91)))
    let service = ServiceUnderTest(world)
    try await service.start()
    let files = ["Plan", "Later"].map { (uri: "file:///disk/notes/\($0).md", path: "/notes/\($0).md") }
    service.files[files[0].path] = Array("tea\n".utf8)
    service.open(files[0].uri, "tea\n")
    let id = try await service.request("notes/adopt", ["uri": .string(files[0].uri)])["id"]
    #expect(service.service.notebook.record(atPath: files[0].path)?.id.description == id?.stringValue)
    #expect(service.binding(files[0].uri) != nil)
    // A plain file's buffer becomes the note that appears there.
    service.open(files[1].uri, "")
    _ = try await service.request("notes/create", ["title": "Later"])
    try await service.wait(for: "the note") { service.binding(files[1].uri) != nil }
  }
}
