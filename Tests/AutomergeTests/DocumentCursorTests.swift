import Foundation
import TestSupport
import Testing

@testable import Automerge

struct DocumentCursorTests {
  private func text(_ string: String, _ encoding: TextEncoding = .unicodeScalar) throws -> (Document, ObjId) {
    let document = Document(textEncoding: encoding)
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: string)
    return (document, text)
  }

  @Test func aCursorStaysWithItsCharacter() throws {
    let (document, text) = try text("hello world"), cursor = try document.cursor(obj: text, position: 6)
    try document.spliceText(obj: text, start: 0, delete: 1, value: "Well, h")
    #expect(try document.position(obj: text, cursor: cursor) == 12)
  }

  @Test func aCursorWhoseCharacterWentGoesForthOrBack() throws {
    let (document, text) = try text("abcdef")
    let after = try document.cursor(obj: text, position: 3), heads = document.heads()
    let before = try document.cursor(obj: text, position: 3, move: .before)
    try document.spliceText(obj: text, start: 2, delete: 3)
    #expect(try document.position(obj: text, cursor: after) == 2)
    #expect(try document.position(obj: text, cursor: before) == 1)
    for cursor in [after, before] {
      #expect(try document.position(obj: text, cursor: cursor, heads: heads) == 3)
      #expect(
        try document.position(obj: text, cursor: cursor, heads: document.heads())
          == document.position(obj: text, cursor: cursor))
    }
    #expect(try document.cursor(obj: text, position: 3, heads: heads) == after)
    #expect(try document.cursor(obj: text, position: 3, heads: heads, move: .before) == before)
    #expect(try document.position(obj: text, cursor: before, heads: []) == 0)
  }

  @Test func theEndAndTheStartStay() throws {
    let (document, text) = try text("ab"), heads = document.heads()
    let end = try document.cursor(obj: text, position: 2)
    #expect(end == .end)
    #expect(try document.cursor(obj: text, position: 99) == .end)
    #expect(try document.cursor(obj: text, position: 2, heads: heads) == .end)
    try document.spliceText(obj: text, start: 2, delete: 0, value: "cd")
    try document.spliceText(obj: text, start: 0, delete: 0, value: "_")
    #expect(try document.position(obj: text, cursor: end) == 5)
    #expect(try document.position(obj: text, cursor: end, heads: heads) == 2)
    #expect(try document.position(obj: text, cursor: .start) == 0)
  }

  @Test func cursorsStandInLists() throws {
    let document = Document(), list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    try document.splice(obj: list, start: 0, delete: 0, values: [.Int(1), .Int(2), .String("c")])
    let cursors = try (0..<3).map { try document.cursor(obj: list, position: $0) }
    try document.put(obj: list, index: 1, value: .Int(5))
    try document.insert(obj: list, index: 0, value: .Null)
    #expect(try cursors.map { try document.position(obj: list, cursor: $0) } == [1, 2, 3])
    try document.delete(obj: list, index: 2)
    #expect(try cursors.map { try document.position(obj: list, cursor: $0) } == [1, 2, 2])
    #expect(throws: DocError.wrongType(.ROOT, .Map)) { try document.cursor(obj: .ROOT, position: 0) }
  }

  @Test func positionsCountInTheDocumentsEncoding() throws {
    for (encoding, position) in [
      (TextEncoding.utf8, 5), (.utf16, 3), (.unicodeScalar, 2), (.graphemeCluster, 2),
    ] as [(TextEncoding, UInt64)] {
      let (document, text) = try text("a😀b", encoding)
      let cursor = try document.cursor(obj: text, position: position)
      #expect(try document.position(obj: text, cursor: cursor) == position)
      #expect(try document.position(obj: text, cursor: cursor, heads: document.heads()) == position)
      #expect(try document.utf8Offset(obj: text, cursor: cursor) == 5)
    }
  }

  @Test func cursorsHaveAFormForPeople() throws {
    let cursor = Cursor(code: .operation(actor: ActorId(bytes: [0xaa, 0x0f]), counter: 300, move: .before))
    #expect(try cursor.string() == "-300@aa0f")
    #expect(cursor.description == "010302AA0FAC0201")
    for string in ["s", "e", "1@", "-4294967295@00ff"] {
      #expect(try Cursor(string: string).string() == string)
      #expect(try Cursor(bytes: Cursor(string: string).bytes).string() == string)
    }
    for string in ["", "-", "x", "0@aa", "1@a", "1@zz", "4294967296@aa", "-s", "1@aa@bb", "+1@aa", "1", "--1@aa"] {
      #expect(throws: DocError.invalidCursor, "\(string)") { try Cursor(string: string) }
    }
  }

  @Test func whatIsNoCursorOfTheObjectIsRefused() throws {
    let (document, text) = try text("ab"), other = try self.text("xyz")
    for bytes in [[], [9], [1, 3], [1, 4], [1, 3, 1, 0xaa, 0, 2], [1, 3, 1, 0xaa, 1, 3], [1, 1, 0]] as [[UInt8]] {
      #expect(throws: DocError.invalidCursor) {
        try document.position(obj: text, cursor: Cursor(bytes: Data(bytes)))
      }
    }
    let foreign = try other.0.cursor(obj: other.1, position: 1)
    #expect(throws: DocError.unknownCursor) { try document.position(obj: text, cursor: foreign) }
    let map = Cursor(code: .operation(actor: document.actor, counter: 1, move: .after))
    #expect(throws: DocError.unknownCursor) { try document.position(obj: text, cursor: map) }
  }
}
