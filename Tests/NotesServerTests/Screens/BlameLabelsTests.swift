import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// The names beside the lines: the last author of each line, not of a whole span that one author wrote in one go.
struct BlameLabelsTests {
  @Test @AutomergeRepo func aCorrectedLineIsTheCorrectorsWhateverIsWrittenBelowItLater() async throws {
    let written = try await WrittenNote()
    let (ben, cleo) = (ActorId(), ActorId())
    try written.write("mlk\ntea\n", at: 0, by: ben, second: 0)
    try written.write("i", at: 1, by: cleo, second: 10)
    try written.write("rice\n", at: 9, by: ben, second: 20)
    let (authors, names) = try await written.blame(lines: 3)
    #expect(
      authors.count == 3 && authors[0] == authors[2] && authors[0] != authors[1],
      "what was written in one go is one span")
    #expect(names == [authors[1], authors[0], authors[0]])
  }

  /// The last line has no newline at its end, so the author of the next line types it.
  @Test @AutomergeRepo func theNewlineThatTheNextPersonTypesDoesNotMakeTheLineAboveTheirs() async throws {
    let written = try await WrittenNote()
    let (ben, cem, ana) = (ActorId(), ActorId(), ActorId())
    try written.write("Ben wrote this line", at: 0, by: ben, second: 0)
    try written.write("\n", at: 19, by: cem, second: 10)
    try written.write("cem line", at: 20, by: cem, second: 11)
    try written.write("\nBen third", at: 28, by: ben, second: 20)
    try written.write("\n\nAna", at: 38, by: ana, second: 30)
    let (authors, names) = try await written.blame(lines: 5)
    let (bens, cems, anas) = (authors[0], authors[1], authors[3])
    #expect(Set([bens, cems, anas]).count == 3, "\(authors)")
    #expect(names == [bens, cems, bens, anas, anas], "an empty line is the author's of its newline")
    #expect(try await written.blame(lines: 3, from: 1).labels == [cems, bens, anas])
  }
}

/// A note in whose text each stretch has an author and a time of its own.
@AutomergeRepo private struct WrittenNote {
  let service: ServiceUnderTest
  let id: DocumentId
  let handle: DocHandle

  init() async throws {
    service = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 1))))
    try await service.start()
    let made = try await service.request("notes/create", ["title": "Shopping"])
    id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    handle = try await service.handle(of: id)
  }

  func write(_ text: String, at offset: Int, by author: ActorId, second: Int) throws {
    let copy = handle.document.fork()
    copy.actor = author
    let note = try #require(NoteDocument(copy))
    try copy.spliceText(obj: note.content, utf8Offset: offset, deleteUTF8: 0, insert: Array(text.utf8))
    copy.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 1_000_000 + Double(second)))
    try handle.merge(copy)
  }

  /// The first words of the spans' authors, and of the labels of so many lines.
  func blame(lines: Int, from first: Int = 0) async throws -> (authors: [String], labels: [String]) {
    func line(_ line: Int) -> JSONValue { ["line": JSONValue(line), "character": 0] }
    let range: JSONValue = ["start": line(first), "end": line(first + lines)]
    let answer = try await service.request(
      "notes/blame", ["id": .string(id.description), "range": range, "width": 30])
    func firstWord(_ value: JSONValue?) -> String? { value?.stringValue?.split(separator: " ").first.map(String.init) }
    return (
      (answer["spans"]?.arrayValue ?? []).compactMap { firstWord($0["author"]) },
      (answer["labels"]?.arrayValue ?? []).compactMap(firstWord)
    )
  }
}
