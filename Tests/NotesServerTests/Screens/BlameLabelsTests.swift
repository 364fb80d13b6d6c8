import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// The names beside the lines: the last author of each line, not of a whole span that one author wrote in one go.
@Suite struct BlameLabelsTests {
  @Test @AutomergeRepo func aCorrectedLineIsTheCorrectorsWhateverIsWrittenBelowItLater() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
    let ana = ServiceUnderTest(world)
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Shopping"])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let handle = try await ana.handle(of: id)
    let (ben, cleo) = (ActorId(), ActorId())
    func write(_ text: String, at offset: Int, by author: ActorId, second: Int) throws {
      let copy = handle.document.fork()
      copy.actor = author
      let note = try #require(NoteDocument(copy))
      try copy.spliceText(obj: note.content, utf8Offset: offset, deleteUTF8: 0, insert: Array(text.utf8))
      copy.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 1_000_000 + Double(second)))
      try handle.merge(copy)
    }
    try write("mlk\ntea\n", at: 0, by: ben, second: 0)
    try write("i", at: 1, by: cleo, second: 10)
    try write("rice\n", at: 9, by: ben, second: 20)
    let range: JSONValue = ["start": ["line": 0, "character": 0], "end": ["line": 3, "character": 0]]
    let answer = try await ana.request("notes/blame", ["id": .string(id.description), "range": range, "width": 30])
    let names = (answer["labels"]?.arrayValue ?? []).compactMap {
      $0.stringValue?.split(separator: " ").first.map(String.init)
    }
    let spans = answer["spans"]?.arrayValue ?? []
    let authors = spans.compactMap { $0["author"]?.stringValue?.split(separator: " ").first.map(String.init) }
    #expect(
      authors.count == 3 && authors[0] == authors[2] && authors[0] != authors[1],
      "what was written in one go is one span")
    #expect(names == [authors[1], authors[0], authors[0]], "\(answer)")
  }
}
