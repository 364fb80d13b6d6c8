import Automerge
import Foundation
import Testing

@testable import NotesServer

/// A note that begins with a long text: a peer merges each change as a whole, and only a small one without delay, so
/// the text is several changes.
struct LongNoteTests {
  private let time = Date(timeIntervalSince1970: 0)

  @Test(arguments: ["a line of thirty-two bytes, or so\n", "no line ends: “läßt” ", "🦆", "a\u{0}"])
  func itsTextIsSeveralChanges(pattern: String) throws {
    let count = 2 << 20
    let text = Array(String(repeating: pattern, count: count / pattern.utf8.count).utf8)
    let note = try NoteDocument(new: Document(), title: "Long", text: text, created: time)
    note.document.commitWith(message: nil, timestamp: time)
    #expect(DocumentText(note).allUTF8 == text)
    #expect((4...6).contains(note.document.getHistory().count))
    var before = 0
    for hash in note.document.getHistory() {
      let now = try note.document.textAt(obj: note.content, heads: [hash]).utf8.count
      #expect(now - before <= NoteDocument.maximumPortionBytes && now > before)
      before = now
    }
  }

  @Test(arguments: [0, 1, NoteDocument.maximumPortionBytes]) func aShorterOneIsOneChange(byteCount: Int) throws {
    let text = [UInt8](repeating: 0x61, count: byteCount)
    let note = try NoteDocument(new: Document(), title: "Short", text: text, created: time)
    note.document.commitWith(message: nil, timestamp: time)
    #expect(note.document.getHistory().count == 1)
    #expect(DocumentText(note).allUTF8 == text)
  }
}
