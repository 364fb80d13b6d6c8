import Foundation
import TestSupport
import Testing

@testable import Automerge

struct DocumentMarkTests {
  private func text(_ string: String, _ encoding: TextEncoding = .unicodeScalar) throws -> (Document, ObjId) {
    let document = Document(textEncoding: encoding)
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: string)
    document.commitWith()
    return (document, text)
  }

  @Test(arguments: [
    (ExpandMark.before, "XbcdY", [UInt64(0), 4]), (.after, "XbcdY", [1, 5]), (.both, "XbcdY", [0, 5]),
    (.none, "XbcdY", [1, 4]),
  ])
  func textAtTheEdgesJoinsAMarkThatGrowsThere(expand: ExpandMark, expected: String, range: [UInt64]) throws {
    let (document, text) = try text("bcd")
    try document.mark(obj: text, start: 0, end: 3, expand: expand, name: "bold", value: .Boolean(true))
    try document.spliceText(obj: text, start: 3, delete: 0, value: "Y")
    try document.spliceText(obj: text, start: 0, delete: 0, value: "X")
    #expect(try document.text(obj: text) == expected)
    let mark = Mark(start: range[0], end: range[1], name: "bold", value: .Boolean(true))
    #expect(try document.marks(obj: text) == [mark])
    #expect(try Document(document.save()).marks(obj: text) == [mark])
    #expect(document.brokenInvariant() == nil)
  }

  @Test func theMarksAtACursorAreRefusedOfATimeBeforeItsCharacter() throws {
    let (document, text) = try text("quick")
    try document.mark(obj: text, start: 0, end: 5, expand: .after, name: "bold", value: .Boolean(true))
    let old = try document.cursor(obj: text, position: 4), heads = document.heads()
    try document.spliceText(obj: text, start: 5, delete: 0, value: " fox")
    let new = try document.cursor(obj: text, position: 7)
    #expect(try document.marksAt(obj: text, position: .cursor(new)).map(\.name) == ["bold"])
    #expect(try document.marksAt(obj: text, position: .cursor(old), heads: heads).map(\.name) == ["bold"])
    #expect(throws: DocError.unknownCursor) {
      try document.marksAt(obj: text, position: .cursor(new), heads: heads)
    }
    let end = try document.cursor(obj: text, position: 9)
    #expect(try document.marksAt(obj: text, position: .cursor(end), heads: heads).isEmpty)
  }

  @Test func marksOfSeveralNamesOverlapAndTheLastOfANameWins() throws {
    let (document, text) = try text("The quick fox")
    try document.mark(obj: text, start: 0, end: 9, expand: .none, name: "link", value: .String("a"))
    try document.mark(obj: text, start: 4, end: 13, expand: .none, name: "bold", value: .Boolean(true))
    try document.mark(obj: text, start: 4, end: 6, expand: .none, name: "link", value: .String("b"))
    let heads = document.heads()
    try document.unmark(obj: text, start: 5, end: 7, expand: .none, name: "bold")
    #expect(
      try document.marks(obj: text) == [
        Mark(start: 4, end: 5, name: "bold", value: .Boolean(true)),
        Mark(start: 7, end: 13, name: "bold", value: .Boolean(true)),
        Mark(start: 0, end: 4, name: "link", value: .String("a")),
        Mark(start: 4, end: 6, name: "link", value: .String("b")),
        Mark(start: 6, end: 9, name: "link", value: .String("a")),
      ])
    #expect(try document.marksAt(obj: text, heads: heads).first?.end == 13)
    let here = [
      Mark(start: 4, end: 4, name: "bold", value: .Boolean(true)),
      Mark(start: 4, end: 4, name: "link", value: .String("b")),
    ]
    #expect(try document.marksAt(obj: text, position: .index(4)) == here)
    let cursor = try document.cursor(obj: text, position: 4)
    try document.spliceText(obj: text, start: 0, delete: 2)
    #expect(try document.marksAt(obj: text, position: .cursor(cursor)).map(\.start) == [2, 2])
    #expect(try document.marksAt(obj: text, position: .cursor(cursor), heads: heads) == here)
    #expect(try document.marksAt(obj: text, position: .index(5), heads: heads).count == 2)
    #expect(try document.marksAt(obj: text, position: .index(99)) == [])
  }

  /// The reference implementation has the begin of the mark in the document when it finds that the end cannot be.
  @Test func aMarkThatFailsLeavesNothingBehind() throws {
    let (document, text) = try text("abc")
    let heads = document.heads()
    for (start, end) in [(1, 4), (4, 5), (2, 1), (0, .max)] as [(UInt64, UInt64)] {
      #expect(throws: DocError.outOfBounds(end)) {
        try document.mark(obj: text, start: start, end: end, expand: .both, name: "bold", value: .Null)
      }
    }
    #expect(throws: DocError.wrongType(.ROOT, .Map)) {
      try document.mark(obj: .ROOT, start: 0, end: 0, expand: .both, name: "bold", value: .Null)
    }
    #expect(document.withCore { $0.transaction } == nil)
    #expect(document.heads() == heads)
  }

  @Test func anEmptyMarkIsMadeOnlyIfItCanGrow() throws {
    let (document, text) = try text("ab")
    let heads = document.heads()
    try document.mark(obj: text, start: 1, end: 1, expand: .none, name: "n", value: .Int(1))
    #expect(document.heads() == heads)
    try document.mark(obj: text, start: 1, end: 1, expand: .after, name: "n", value: .Int(1))
    #expect(try document.marks(obj: text) == [])
    #expect(document.heads() != heads)
    #expect(document.brokenInvariant() == nil)
    #expect(try Document(document.save()).heads() == document.heads())
  }

  @Test func aMarkInsideOneCharacterOfSeveralUnitsIsEmpty() throws {
    let (document, text) = try text("a😀b", .utf8)
    try document.mark(obj: text, start: 2, end: 4, expand: .none, name: "n", value: .Int(1))
    #expect(try document.marks(obj: text) == [])
    try document.mark(obj: text, start: 1, end: 5, expand: .none, name: "m", value: .Int(1))
    #expect(try document.marks(obj: text) == [Mark(start: 1, end: 5, name: "m", value: .Int(1))])
    #expect(try Document(document.save(), textEncoding: .utf16).marks(obj: text).map(\.end) == [3])
  }

  @Test func concurrentMarksAndTypingConverge() throws {
    let (document, text) = try text("The fox jumps"), other = document.fork()
    try document.mark(obj: text, start: 0, end: 7, expand: .after, name: "bold", value: .Boolean(true))
    try other.spliceText(obj: text, start: 7, delete: 0, value: "es")
    try other.mark(obj: text, start: 4, end: 15, expand: .none, name: "em", value: .Boolean(true))
    try other.spliceText(obj: text, start: 0, delete: 4)
    try document.merge(other: other)
    try other.merge(other: document)
    #expect(try document.text(obj: text) == "foxes jumps")
    #expect(try document.marks(obj: text) == other.marks(obj: text))
    #expect(try document.marks(obj: text).map(\.name) == ["bold", "em"])
    #expect(document.heads() == other.heads())
    #expect(document.brokenInvariant() == nil && other.brokenInvariant() == nil)
  }
}
