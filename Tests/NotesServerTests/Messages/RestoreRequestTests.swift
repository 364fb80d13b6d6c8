import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

@AutomergeRepo struct RestoreRequestTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 7)))

  /// A note that had another text, open in an editor, and the state in which it had that.
  private func opened(_ old: String, then text: String) async throws -> (ServiceUnderTest, ClientBuffer, JSONObject) {
    let ben = ServiceUnderTest(world)
    try await ben.start()
    let made = try await ben.request("notes/create", ["title": "Shopping", "text": .string(old)])
    let id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let uri = try #require(made["uri"]?.stringValue)
    let handle = try await ben.handle(of: id)
    let heads = handle.document.heads().map { JSONValue.string($0.description) }
    let note = try #require(NoteDocument(handle.document))
    let delta = TextDelta(utf8Offset: 0, deleted: Array(old.utf8), inserted: Array(text.utf8))
    try handle.change { _ in try note.make(delta.splices) }
    let buffer = ClientBuffer(uri, text, in: ben)
    try await ben.wait(for: "the note") { ben.binding(uri) != nil }
    return (ben, buffer, ["uri": .string(uri), "heads": .array(heads)])
  }

  private func text(_ ben: ServiceUnderTest, _ buffer: ClientBuffer) -> String? {
    ben.binding(buffer.uri).map { String(decoding: $0.source.allUTF8, as: UTF8.self) }
  }

  @Test func aLineThatIsTypedBeforeTheEarlierTextIsShownStaysALine() async throws {
    let (ben, buffer, params) = try await opened("milk\nend\n", then: "tea\nham\nend\n")
    _ = try await ben.request("notes/restore", .object(params))
    #expect(text(ben, buffer) == "milk\nend\n")
    buffer.replace(4..<4, "eggs\n")
    try await ben.wait(for: "the line") { text(ben, buffer)?.contains("eggs") ?? false }
    #expect(text(ben, buffer) == "eggs\nmilk\nend\n")
  }

  @Test(arguments: [
    (0, 1, "milk\nham\nrice\n"), (1, 2, "tea\njam\nrice\n"), (2, 3, "tea\nham\nsalt\n"), (0, 2, "milk\njam\nrice\n"),
    (1, 1, "tea\nham\nrice\n"),
  ]) func ofSeveralLinesOnlyThoseInTheRangeComeBackAndUndoTakesThemBack(_ first: Int, _ end: Int, _ wanted: String)
    async throws
  {
    var (ben, buffer, params) = try await opened("milk\njam\nsalt\n", then: "tea\nham\nrice\n")
    params["range"] = [
      "start": ["line": JSONValue(first), "character": 0], "end": ["line": JSONValue(end), "character": 0],
    ]
    _ = try await ben.request("notes/restore", .object(params))
    #expect(text(ben, buffer) == wanted)
    guard first < end else { return }
    try await ben.wait(for: "the edit") {
      buffer.readMessage()
      return buffer.string == wanted
    }
    let place: JSONValue = ["uri": .string(buffer.uri), "version": 1, "rev": 1]
    ben.send("notes/undo", place, id: 7)
    try await ben.wait(for: "the undo") { text(ben, buffer) != wanted }
    #expect(text(ben, buffer) == "tea\nham\nrice\n")
  }
}
