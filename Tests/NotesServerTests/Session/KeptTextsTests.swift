import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// If several texts must be kept at one moment, all are kept, whatever their titles.
@AutomergeRepo @Suite(.serialized) struct KeptTextsTests {
  private let ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 33))), "ana")
  private let id: DocumentId = {
    var random = RandomSource(SeededGenerator(seed: 34))
    return DocumentId.random(using: &random)
  }()
}

extension KeptTextsTests {
  /// One change of a peer deletes all items of a meeting, of which this person has several open.
  @Test func ofAllItemsThatAPeerDeletesAtOnceTheTextIsKept() async throws {
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Weekly", "kind": "meeting"])
    let meeting = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    let texts = ["cups", "pots", "leaves"].map { "\($0)\n" }
    for (number, text) in texts.enumerated() {
      let item = try await ana.request(
        "notes/addItem",
        ["id": .string(meeting.description), "title": .string("Item \(number)"), "text": .string(text)])
      let uri = try #require(item["uri"]?.stringValue)
      ana.open(uri, text)
      try await ana.wait(for: "the buffer") { [ana] in ana.binding(uri) != nil }
    }
    let handle = try await ana.handle(of: meeting), peer = handle.document.fork()
    while let item = MeetingDocument(peer)?.items.first { try MeetingDocument(peer)?.delete(item) }
    try handle.take(peer.encodeChangesSince(heads: handle.document.heads()))
    ana.service.fileSync.changedOutside(handle)
    #expect(ana.events("detached").count == 3)
    try await ana.pass(.seconds(3))
    #expect(try await ana.recoveredTexts().sorted() == texts.sorted())
    let listed = try await ana.request("notes/recovered", [:])["texts"]?.arrayValue ?? []
    #expect(Set(listed.compactMap { $0["path"]?.stringValue }).count == 3)
    // Each by its own title: the meeting has others.
    #expect(listed.compactMap { $0["title"]?.stringValue }.sorted() == ["Item 0", "Item 1", "Item 2"])
  }

  /// The clock of this world does not advance, so that all processes keep their text in the same millisecond.
  @Test func processesThatKeepTextsAtOneMomentReplaceNoneOfTheOthers() async throws {
    try await ana.start()
    let siblings = (0..<16).map { _ in ServiceUnderTest(ana.world, "ana", files: ana.files) }
    let texts = (0..<17).map { "cups \($0)\n" }
    for (process, text) in zip([ana] + siblings, texts) {
      process.service.recoveredTexts.keepSoon(NoteKey(id), "a peer replaced it while it was open", Array(text.utf8))
    }
    try await ana.pass(.seconds(3))
    #expect(try await ana.recoveredTexts().sorted() == texts.sorted())
    let listed = try await ana.request("notes/recovered", [:])["texts"]?.arrayValue ?? []
    #expect(Set(listed.compactMap { $0["path"]?.stringValue }).count == 17)
  }

  /// Other texts are reported while the store still has this one's mark.
  @Test func aTextOfWhichThePersonHasBeenToldIsNotReportedAgain() async throws {
    try await ana.start()
    try #require(ana.world.stores["ana"]).failRemoves(true)
    ana.service.recoveredTexts.keepSoon(NoteKey(id), "its agenda item was deleted", Array("cups\n".utf8), isTold: true)
    try await ana.pass(.seconds(1))
    ana.service.recoveredTexts.tellSoon(after: .zero)
    try await ana.pass(.seconds(1))
    #expect(ana.events("recovered").isEmpty)
    #expect(try await ana.recoveredTexts() == ["cups\n"])
  }

  @Test func aTextThatIsKeptAfterTheClockWasSetBackReplacesNoEarlierOne() async throws {
    try await ana.start()
    ana.service.recoveredTexts.keepSoon(NoteKey(id), "a peer replaced it while it was open", Array("cups\n".utf8))
    try await ana.pass(.seconds(3))
    let first = try #require(await ana.service.notebook.storage.loadRange([RecoveredText.collection]).first)
    let time = try #require(RecoveredText(first)).stamp.time
    let next = ServiceUnderTest(ana.world, "ana", files: ana.files).service.recoveredTexts.newStamp()
    #expect(RecoveredText.Stamp(time: time, run: next.run).description != first.key.last)
  }

  @Test func aTextThatAnEarlierVersionKeptIsReadAndHasItsFormerFile() throws {
    let item = StoredItem(key: [RecoveredText.collection, id.description, "1700000000123"], data: Data("cups\n".utf8))
    let text = try #require(RecoveredText(item))
    #expect(text.text == Array("cups\n".utf8) && text.item.key == item.key)
    let path = RecoveredText.path(title: "Shopping", stamp: text.stamp, in: "/notes")
    #expect(path == "/notes/.recovered/Shopping 2023-11-14T22.13.20Z 123.md")
  }

  /// A title of letters that take several bytes each leaves no room for the time in a file's name.
  @Test func theFilesOfKeptTextsDifferWhateverTheTitle() {
    for letter in ["x", "漢", "👩‍👩‍👧‍👧", "e" + String(repeating: "\u{301}", count: 300)] {
      let title = String(repeating: letter, count: 200)
      let paths = (1_700_000_000_000..<1_700_000_000_010).map {
        RecoveredText.path(title: title, stamp: RecoveredText.Stamp(time: $0, run: "0011223344556677"), in: "/notes")
      }
      #expect(Set(paths).count == 10)
      #expect(paths.allSatisfy { ($0.split(separator: "/").last?.utf8.count ?? 0) <= FileName.maximumUTF8 })
    }
  }
}
