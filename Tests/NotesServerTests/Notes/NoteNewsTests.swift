import AutomergeRepo
import TestSupport
import Testing

@testable import NotesServer

/// The messages that both editors show when the nature of a buffer changes.
struct NoteNewsTests {
  private static func all(_ name: String) -> [NoteNews] {
    [
      .access(.read, host: name), .access(.write, host: name), .refused(recovered: "/a/path"), .unshared(host: name),
      .unshared(host: nil),
      .gaveUp(guest: name), .detached(.deleted), .detached(.deletedForEveryone), .detached(.itemDeleted),
      .detached(.purged), .waiting(for: name), .detached(.notFound), .detached(.notOpened),
      .detached(.textDeleted), .anotherText,
    ]
  }

  @Test func everyMessageFitsOnAStatusLineWhateverTheNamesAre() {
    let names = ["B", "Ben", String(repeating: "Maximiliane ", count: 10)]
    for (name, title) in zip(names + names, ["", "Shopping", String(repeating: "long title ", count: 40)] + names) {
      for news in Self.all(name) {
        let message = news.message(title: title)
        #expect(message.count <= NoteNews.maximumMessageLength, "\(message)")
        #expect(!message.isEmpty)
      }
    }
  }

  @Test func usualNamesAndTitlesStandWholeInTheMessages() {
    let messages = Self.all("Ben").map { $0.message(title: "Shopping") }
    #expect(
      messages == [
        "Ben made \"Shopping\" read-only for you", "Ben lets you edit \"Shopping\"",
        "Read-only: \"Shopping\" stays; your words are in a copy", "Ben stopped sharing \"Shopping\"; your copy stays",
        "No longer shared: \"Shopping\"; your copy stays", "Ben no longer shares \"Shopping\"",
        "Deleted \"Shopping\"; undelete restores it",
        "Deleted for everyone: \"Shopping\"; undelete restores it",
        "Item deleted: \"Shopping\"; its text is kept as recovered",
        "Removed for good: \"Shopping\"; only this text is left",
        "Waiting for Ben to send \"Shopping\"; typing is kept",
        "Not found: \"Shopping\"; the text stays as a plain file",
        "Cannot open \"Shopping\"; the text stays as a plain file",
        "Text deleted: \"Shopping\"; it is kept as recovered", "A peer put another text into \"Shopping\"",
      ])
  }

  @Test func typingThatGoesOnIsKeptOnceAndNewTypingByItself() {
    var typing = RefusedTyping()
    let (empty, a, ab, c) = (Array("x".utf8), Array("ax".utf8), Array("abx".utf8), Array("cx".utf8))
    let first = typing.take(before: empty, after: a, stamp: RecoveredText.Stamp(time: 1000))
    #expect(typing.take(before: a, after: ab, stamp: RecoveredText.Stamp(time: 1010)) == first)
    // The client has undone "ab" meanwhile: the next text must not replace it.
    let second = typing.take(before: empty, after: c, stamp: RecoveredText.Stamp(time: 1020))
    #expect(second != first)
  }
}
