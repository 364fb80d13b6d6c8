import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Small texts: where their lines begin, what a deletion takes, and what becomes of marks whose text is gone.
struct TextPlaceTests {
  /// Characters of two and of four bytes.
  private let two = "\u{E9}", four = "\u{1F332}"

  private func text(_ string: String) throws -> (Document, ObjId) {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: string)
    return (document, text)
  }

  /// Also where fewer than eight bytes are left to look at.
  @Test(arguments: [
    "", "\n", "ab", "ab\n", "a\nb\nc", "\n\n\n", "\u{E9}\n\u{FC}\u{DF}\n", "seven..\neight..\n12345678\n\nlast",
  ])
  func everyLineBeginsBehindTheLineFeedBefore(string: String) throws {
    let (document, text) = try text(string)
    var start = TextMeasure.zero
    let lines = string.split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      #expect(try document.textMeasure(obj: text, line: number) == start)
      start = start + TextMeasure(of: Array("\(line)\n".utf8))
    }
    #expect(try document.textMeasure(obj: text, line: lines.count) == nil)
    #expect(try document.textMeasure(obj: text, line: -1) == nil)
  }

  /// Such an element is inserted by one operation; offsets may lie inside it.
  @Test func aPlaceInsideAnElementOfSeveralCharactersIsMeasuredUpToThere() throws {
    let (document, text) = try text("\(two)|"), element = "a\(four)\n\n\(two)b", string = "\(two)\(element)|"
    try document.insert(obj: text, index: 1, value: .String(element))
    #expect(try document.text(obj: text) == string)
    var before = TextMeasure.zero, lines = [before]
    for scalar in string.unicodeScalars {
      let wide = TextMeasure(of: Array(String(scalar).utf8))
      for inside in 0..<wide.utf8 {
        #expect(try document.textMeasure(obj: text, utf8Offset: before.utf8 + inside) == before)
      }
      for inside in 0..<wide.utf16 {
        #expect(try document.textMeasure(obj: text, utf16Offset: before.utf16 + inside) == before)
      }
      #expect(try document.textMeasure(obj: text, scalarOffset: before.scalars) == before)
      before = before + wide
      if scalar == "\n" { lines.append(before) }
    }
    for (line, start) in lines.enumerated() {
      #expect(try document.textMeasure(obj: text, line: line) == start)
    }
  }

  /// Every edit goes on where the last one was, so that one stretch of text is what several changes wrote or deleted.
  @Test(arguments: [TextEncoding.graphemeCluster, .unicodeScalar, .utf8, .utf16])
  func patchesCountInTheUnitOfTheDocument(encoding: TextEncoding) throws {
    let document = Document(textEncoding: encoding)
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    func length(_ string: String) -> UInt64 {
      switch encoding {
      case .graphemeCluster: UInt64(string.count)
      case .unicodeScalar: UInt64(string.unicodeScalars.count)
      case .utf8: UInt64(string.utf8.count)
      case .utf16: UInt64(string.utf16.count)
      }
    }
    var shown = ""
    for next in ["\(four)\(two)", "\(two)b", "\(four)\(two)c", "\(two)"] {
      let heads = document.heads()
      try document.spliceText(obj: text, start: length(shown), delete: 0, value: next)
      #expect(
        document.difference(since: heads).map(\.action) == [
          .SpliceText(obj: text, index: length(shown), value: next, marks: [:])
        ])
      shown += next
    }
    for next in ["\(two)b", "\(four)", "\(two)c"] {
      let heads = document.heads(), place = length("\(four)\(two)")
      try document.spliceText(obj: text, start: place, delete: Int64(length(next)))
      #expect(
        document.difference(since: heads).map(\.action) == [
          .DeleteSeq(DeleteSeq(obj: text, index: place, length: length(next)))
        ])
    }
    #expect(try document.text(obj: text) == "\(four)\(two)\(two)")
  }

  /// Whatever was deleted just before, which a deletion may continue.
  @Test func ofTwoDeletionsEachTakesItsOwnCharacter() throws {
    for (first, second) in (0..<4).flatMap({ first in (0..<3).map { (first, $0) } }) {
      let (document, text) = try text("abcd")
      document.commitWith()
      var plain = Array("abcd")
      for place in [first, second] {
        try document.spliceText(obj: text, utf8Offset: place, deleteUTF8: 1, insert: [])
        plain.remove(at: place)
      }
      #expect(try document.text(obj: text) == String(plain), "\(first), \(second)")
      #expect(document.brokenInvariant() == nil, "\(first), \(second)")
    }
  }

  /// Letters that were typed with something else in between are backspaced in one go.
  @Test func whatOthersWriteBehindBackspacedLettersStillFindsItsPlace() throws {
    let (document, text) = try text("ab")
    try document.put(obj: .ROOT, key: "between", value: .Boolean(true))
    try document.spliceText(obj: text, utf8Offset: 2, deleteUTF8: 0, insert: Array("c".utf8))
    let other = document.fork()
    for offset in [2, 1] { try document.spliceText(obj: text, utf8Offset: offset, deleteUTF8: 1, insert: []) }
    try other.spliceText(obj: text, utf8Offset: 3, deleteUTF8: 0, insert: Array("x".utf8))
    try other.spliceText(obj: text, utf8Offset: 2, deleteUTF8: 0, insert: Array("y".utf8))
    try document.merge(other: other)
    #expect(try document.text(obj: text) == "ayx")
    #expect(document.brokenInvariant() == nil)
    #expect(try Document(document.save()).text(obj: text) == "ayx")
  }

  /// Neither one such mark nor many, which are found in another way.
  @Test(arguments: [1, 2, 32, 33, 40]) func aMarkWhoseTextIsGoneDoesNotTakeInNewText(count: Int) throws {
    let (document, text) = try text("abc")
    for number in 0..<count {
      try document.mark(
        obj: text, start: 1, end: 2, expand: .both, name: "mark \(number)", value: .Boolean(true))
    }
    try document.spliceText(obj: text, start: 1, delete: 1)
    try document.spliceText(obj: text, start: 1, delete: 0, value: "x")
    #expect(try document.text(obj: text) == "axc")
    #expect(try document.marks(obj: text) == [])
  }

  @Test(arguments: [1, 40]) func aMarkThatBeginsBehindGoneTextStillTakesInNewText(count: Int) throws {
    let (document, text) = try text("abc")
    for number in 0..<count {
      try document.mark(
        obj: text, start: 1, end: 2, expand: .before, name: "gone \(number)", value: .Boolean(true))
    }
    try document.mark(obj: text, start: 2, end: 3, expand: .before, name: "bold", value: .Boolean(true))
    try document.spliceText(obj: text, start: 1, delete: 1)
    try document.spliceText(obj: text, start: 1, delete: 0, value: "x")
    #expect(try document.text(obj: text) == "axc")
    #expect(
      try document.marks(obj: text) == [Mark(start: 1, end: 3, name: "bold", value: .Boolean(true))])
  }
}
