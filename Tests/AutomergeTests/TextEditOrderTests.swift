import Foundation
import Testing

@testable import Automerge

/// Text edits tell whether new text stands before what was deleted beside it, or behind it.
struct TextEditOrderTests {
  private let document = Document()
  private let content: ObjId

  init() throws {
    content = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: content, start: 0, delete: 0, value: "-ab-")
  }

  private func edit(_ offset: Int, _ deleted: String, _ inserted: String) -> TextEdit {
    TextEdit(object: content, utf8Offset: offset, deleted: Array(deleted.utf8), inserted: Array(inserted.utf8))
  }

  @Test func newTextBetweenTwoDeletedLettersIsAnEditOfItsOwn() throws {
    let heads = document.heads()
    try document.spliceText(obj: content, start: 2, delete: 0, value: "X")
    try document.spliceText(obj: content, start: 1, delete: 1, value: "")
    try document.spliceText(obj: content, start: 2, delete: 1, value: "")
    #expect(try document.textEdits(obj: content, since: heads) == [edit(1, "a", ""), edit(1, "b", "X")])
  }

  @Test func newTextBeforeDeletedTextIsOneEditWithIt() throws {
    let heads = document.heads()
    try document.spliceText(obj: content, start: 1, delete: 2, value: "X")
    #expect(try document.textEdits(obj: content, since: heads) == [edit(1, "ab", "X")])
  }

  @Test func textThatOthersPutBehindWhatIsDeletedComesAsAnEditOfItsOwn() throws {
    let (one, other) = (document.fork(), document.fork())
    try one.spliceText(obj: content, start: 1, delete: 2, value: "")
    try other.spliceText(obj: content, start: 3, delete: 0, value: "X")
    try one.merge(other: other)
    // Of two changes made at the same time either may be applied first.
    let expected = [[edit(1, "ab", ""), edit(1, "", "X")], [edit(3, "", "X"), edit(1, "ab", "")]]
    let edits = try document.mergeWithTextEdits(other: one)
    #expect(expected.contains(edits))
  }

  @Test func aLetterThatOthersDeleteBeforeNewTextComesAsAnEditOfItsOwn() throws {
    let other = document.fork()
    try other.spliceText(obj: content, start: 2, delete: 0, value: "X")
    try other.spliceText(obj: content, start: 1, delete: 1, value: "")
    #expect(try document.mergeWithTextEdits(other: other) == [edit(2, "", "X"), edit(1, "a", "")])
  }

  @Test func whatOthersTypeAndDeleteAtOnePlaceComesAsOneEdit() throws {
    let other = document.fork()
    for (place, letter) in ["X", "Y", "Z"].enumerated() {
      try other.spliceText(obj: content, start: UInt64(1 + place), delete: 0, value: letter)
    }
    try other.spliceText(obj: content, start: 4, delete: 2, value: "")
    try other.spliceText(obj: content, start: 4, delete: 0, value: "W")
    #expect(try document.mergeWithTextEdits(other: other) == [edit(1, "ab", "XYZW")])
  }
}
