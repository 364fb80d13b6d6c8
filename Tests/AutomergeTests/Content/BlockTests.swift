import Foundation
import TestSupport
import Testing

@testable import Automerge

struct BlockTests {
  private static func block(_ type: String) -> [String: AutomergeValue] {
    ["type": .scalar(.String(type)), "parents": .array([]), "attrs": .dict(["caption": .text("A caption")])]
  }
  private let paragraph = BlockTests.block("paragraph")

  private func text(_ string: String, _ encoding: TextEncoding = .unicodeScalar) throws -> (Document, ObjId) {
    let document = Document(textEncoding: encoding)
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: string)
    return (document, text)
  }

  @Test func aMarkerDividesTheText() throws {
    let (document, text) = try text("abcdef")
    let map = try document.splitBlock(obj: text, index: 3)
    try document.put(obj: map, key: "type", value: .String("li"))
    #expect(try document.text(obj: text) == "abc\u{FFFC}def")
    #expect(
      try document.spans(obj: text) == [
        .text("abc", marks: [:]), .block(["type": .scalar(.String("li"))]), .text("def", marks: [:]),
      ])
    #expect(try document.block(obj: text, index: 3) == ["type": .scalar(.String("li"))])
    #expect(try document.block(obj: text, index: 2) == nil && document.block(obj: text, index: 99) == nil)
  }

  @Test(arguments: [TextEncoding.utf8, .utf16, .unicodeScalar, .graphemeCluster])
  func indexesCountAsTheDocumentDoes(encoding: TextEncoding) throws {
    let (document, text) = try text("🐻bbb", encoding)
    let index: UInt64 = encoding == .utf8 ? 4 : encoding == .utf16 ? 2 : 1
    try document.splitBlock(obj: text, index: index, block: paragraph)
    #expect(try document.spans(obj: text) == [.text("🐻", marks: [:]), .block(paragraph), .text("bbb", marks: [:])])
    try document.updateBlock(obj: text, index: index, block: Self.block("quote"))
    #expect(try document.block(obj: text, index: index) == Self.block("quote"))
    try document.joinBlock(obj: text, index: index)
    #expect(try document.text(obj: text) == "🐻bbb")
  }

  @Test func textIsSplitWhereMarksBeginAndEnd() throws {
    let (document, text) = try text("Hello world")
    try document.splitBlock(obj: text, index: 0, block: paragraph)
    try document.mark(obj: text, start: 4, end: 9, expand: .after, name: "bold", value: .Boolean(true))
    try document.splitBlock(obj: text, index: 6, block: paragraph)
    let bold: [String: ScalarValue] = ["bold": .Boolean(true)]
    #expect(
      try document.spans(obj: text) == [
        .block(paragraph), .text("Hel", marks: [:]), .text("lo", marks: bold), .block(paragraph),
        .text(" wo", marks: bold), .text("rld", marks: [:]),
      ])
  }

  @Test func earlierStatesHaveTheirBlocks() throws {
    let (document, text) = try text("first")
    try document.splitBlock(obj: text, index: 0, block: paragraph)
    let heads = document.heads()
    try document.joinBlock(obj: text, index: 0)
    #expect(try document.spans(obj: text) == [.text("first", marks: [:])])
    #expect(try document.spansAt(obj: text, heads: heads) == [.block(paragraph), .text("first", marks: [:])])
    #expect(try document.blockAt(obj: text, index: 0, heads: heads) == paragraph)
    #expect(try document.block(obj: text, index: 0) == nil)
  }

  @Test func whatIsNoBlockIsRefused() throws {
    let (document, text) = try text("abc")
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    #expect(throws: DocError.notABlock(1)) { try document.joinBlock(obj: text, index: 1) }
    #expect(throws: DocError.notABlock(1)) { try document.updateBlock(obj: text, index: 1, block: paragraph) }
    #expect(throws: DocError.notABlock(9)) { try document.joinBlock(obj: text, index: 9) }
    #expect(throws: DocError.wrongType(list, .List)) { try document.splitBlock(obj: list, index: 0) }
    #expect(throws: DocError.wrongType(list, .List)) { try document.spans(obj: list) }
    #expect(throws: DocError.wrongType(list, .List)) { try document.block(obj: list, index: 0) }
    #expect(try document.text(obj: text) == "abc" && document.length(obj: list) == 0)
  }

  @Test func splittingAndJoiningAtOnceComeTogether() throws {
    let (document, text) = try text("Helloworld")
    try document.splitBlock(obj: text, index: 0, block: paragraph)
    try document.splitBlock(obj: text, index: 6, block: paragraph)
    let other = document.fork()
    try document.splitBlock(obj: text, index: 4, block: paragraph)
    try other.joinBlock(obj: text, index: 6)
    try document.merge(other: other)
    let patches = try other.mergeWithPatches(other: document)
    #expect(
      try document.spans(obj: text) == [
        .block(paragraph), .text("Hel", marks: [:]), .block(paragraph), .text("loworld", marks: [:]),
      ])
    #expect(try other.spans(obj: text) == document.spans(obj: text))
    #expect(
      patches.contains { patch in
        guard case .Insert(text, 4, let values) = patch.action, case .Object(_, .Map)? = values.first else {
          return false
        }
        return true
      })
  }

  @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
  func spansAreThoseOfTheReferenceCore() throws {
    var count = 0
    for name in Vectors.documentNames() {
      let vector = try Vectors.load(name), document = try Document(Data(require(vector.saved)))
      // The outline of the document has them too, and is compared with the core's elsewhere.
      for (key, value) in try document.mapEntries(obj: .ROOT) {
        guard case .Object(let text, .Text) = value else { continue }
        let spans = try document.spans(obj: text)
        let joined = spans.map { span in
          switch span {
          case .text(let string, _): string
          case .block: "\u{FFFC}"
          }
        }.joined()
        #expect(try joined == document.text(obj: text), "\(name) \(key)")
        count += 1
      }
    }
    #expect(count > 20)
  }
}
