import Automerge
import AutomergeRepo
import Foundation
import Testing

@testable import NotesServer

struct JournalFrameTests {
  private let id: DocumentId
  private let heads: [Set<ChangeHash>]

  init() throws {
    var random = RandomSource()
    id = DocumentId.random(using: &random)
    heads = (0..<3).map { [ChangeHash(bytes: [UInt8](repeating: $0, count: 32))].compactMap(\.self) }.map(Set.init)
  }

  private func base(_ acknowledged: Int, revs: [Int] = []) -> ClientBase {
    let steps = (0...revs.count).map { number in
      TextDelta(utf8Offset: number, deleted: [], inserted: Array("\(number)".utf8))
    }
    return ClientBase(
      base: TextBase(heads: heads[0], steps: steps), time: Date(milliseconds: 1), opened: 7, acknowledged: acknowledged,
      revs: revs)
  }

  private func frame(_ news: JournalFrame.Client.News, _ changes: String = "") -> JournalFrame {
    JournalFrame(document: id, changes: Array(changes.utf8), clients: [JournalFrame.Client(news: news)])
  }

  /// A file that lacks the first letters of the text.
  private func fileBase(_ count: Int) -> TextBase {
    TextBase(
      heads: heads[1],
      steps: [TextDelta(utf8Offset: 0, deleted: [], inserted: [UInt8](repeating: 0x61, count: count))])
  }

  private func file(_ count: Int, after earlier: Int?, item: String? = nil) -> FileNews {
    FileNews(fileBase(count), item: item, replacing: earlier.map(fileBase))
  }

  @Test func whatAFileContainsFollowsEverythingThatTheProcessKnewOfItBefore() throws {
    let content = JournalContent([
      JournalFrame(document: id, files: [file(2, after: 1), file(9, after: 8, item: "tea")]),
      JournalFrame(document: id, files: [file(3, after: 2)]),
    ])
    let news = try #require(content.files[NoteKey(id)])
    #expect(news.base == fileBase(3))
    #expect(news.follows(fileBase(1)) && news.follows(fileBase(2)))
    #expect(!news.follows(fileBase(3)) && !news.follows(fileBase(4)) && !news.follows(nil))
    #expect(content.files.count == 2)
    #expect(FileNews(news.stored(id, run: "aa").data) == news)
  }

  @Test func whatIsWrittenIsReadAgain() {
    let frames = [
      frame(.has(base(3, revs: [4, 5])), "chunk"), frame(.sent(ClientBase.Sent(rev: 6, heads: heads[1]))),
      JournalFrame(document: id, clients: [JournalFrame.Client(item: "tea", news: .closed)]),
      JournalFrame(document: id, changes: [1], files: [file(1, after: nil), file(2, after: 1, item: "tea")]),
      JournalFrame(document: id, written: [JournalFrame.Client(item: "tea", news: .has(base(2)))]),
      frame(.left(JournalFrame.Client.LeftText(text: Array("tea\n".utf8), time: 5))),
      JournalFrame(
        document: id,
        overwritten: [
          JournalFrame.Client(
            item: "tea", news: .left(JournalFrame.Client.LeftText(text: Array("tea\n".utf8), time: 5)))
        ]),
      JournalFrame(document: id, overwritten: [JournalFrame.Client(item: "tea", news: .merged(time: 5))]),
    ]
    #expect(JournalFrame.all(in: frames.flatMap(\.encoded)) == frames)
  }

  @Test func anEntryThatIsCutOffOrAlteredEndsTheJournal() {
    let first = frame(.has(base(0)), "one"), second = frame(.closed, "two")
    let bytes = first.encoded + second.encoded
    for count in 0..<bytes.count {
      let expected = count < first.encoded.count ? [] : [first]
      #expect(JournalFrame.all(in: Array(bytes[..<count])) == expected, "\(count) bytes")
    }
    var altered = bytes
    altered[first.encoded.count + 20] ^= 1
    #expect(JournalFrame.all(in: altered) == [first])
    #expect(JournalFrame.all(in: [0xFF, 0xFF, 0xFF, 0xFF] + bytes) == [])
  }

  @Test func eachEditThatTheEditorMayHaveAppliedNamesOneText() {
    var client = base(3, revs: [4, 5])
    #expect(client.text(afterEdit: 3)?.steps.count == 3)
    #expect(client.text(afterEdit: 4)?.steps.count == 2)
    #expect(client.text(afterEdit: 5)?.steps == Array(client.base.steps[2...]))
    client.sent(6, heads[2])
    #expect(client.text(afterEdit: 6) == TextBase(heads: heads[2], steps: []))
    #expect(client.text(afterEdit: 2) == nil)
    #expect(client.text(afterEdit: 7) == nil)
  }

  @Test func aClosedBufferLeavesItsChangesOnly() {
    let content = JournalContent([
      frame(.has(base(0)), "one"), frame(.sent(ClientBase.Sent(rev: 1, heads: heads[1])), "two"), frame(.closed),
    ])
    #expect(content.clients.isEmpty)
    #expect(content.changes[id] == Data("onetwo".utf8))
  }
}
