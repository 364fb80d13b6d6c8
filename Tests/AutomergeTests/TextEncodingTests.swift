import Foundation
import TestSupport
import Testing

@testable import Automerge

struct TextEncodingTests {
  private static let sample = "aé😀e\u{301}👨‍👩‍👧b"

  private func text(_ string: String, _ encoding: TextEncoding) throws -> (Document, ObjId) {
    let document = Document(textEncoding: encoding)
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: string)
    return (document, text)
  }

  @Test(
    arguments: [
      (TextEncoding.unicodeScalar, 11), (.utf8, 29), (.utf16, 15), (.graphemeCluster, 6),
    ] as [(TextEncoding, UInt64)])
  func lengthsCountInTheEncoding(encoding: TextEncoding, length: UInt64) throws {
    let (document, text) = try text(Self.sample, encoding)
    #expect(document.length(obj: text) == length)
    #expect(document.lengthAt(obj: text, heads: document.heads()) == length)
    #expect(try document.text(obj: text) == Self.sample)
    #expect(document.brokenInvariant() == nil)
    let loaded = try Document(document.save(), textEncoding: encoding)
    #expect(loaded.length(obj: text) == length)
  }

  @Test(
    arguments: [
      (TextEncoding.unicodeScalar, 2, 1), (.utf8, 3, 4), (.utf16, 2, 2), (.graphemeCluster, 2, 1),
    ] as [(TextEncoding, UInt64, Int64)])
  func splicesCountInTheEncoding(encoding: TextEncoding, start: UInt64, delete: Int64) throws {
    let (document, text) = try text(Self.sample, encoding)
    try document.spliceText(obj: text, start: start, delete: delete, value: "__")
    #expect(try document.text(obj: text) == "aé__e\u{301}👨‍👩‍👧b")
    try document.spliceText(obj: text, start: start, delete: 2)
    try document.spliceText(obj: text, start: start, delete: -Int64(start))
    #expect(try document.text(obj: text) == "e\u{301}👨‍👩‍👧b")
    #expect(document.brokenInvariant() == nil)
  }

  @Test func aPlaceInsideACharacterIsBehindItAndItIsNotDeletedInPart() throws {
    for encoding in [TextEncoding.utf8, .utf16] {
      let (document, text) = try text("a😀b", encoding)
      try document.spliceText(obj: text, start: 2, delete: 0, value: "_")
      #expect(try document.text(obj: text) == "a😀_b")
      try document.spliceText(obj: text, start: 2, delete: 1)
      #expect(try document.text(obj: text) == "a😀b")
      try document.spliceText(obj: text, start: 1, delete: 1)
      #expect(try document.text(obj: text) == "ab")
    }
  }

  @Test func graphemeClustersAreElements() throws {
    let (document, text) = try text("e\u{301}👨‍👩‍👧\r\n", .graphemeCluster)
    #expect(try document.values(obj: text).count == 3)
    #expect(try document.get(obj: text, index: 1) == .Scalar(.String("👨‍👩‍👧")))
    // Written by others, one cluster may be several elements, which count by themselves.
    let scalars = try Document(document.save())
    try scalars.spliceText(obj: text, start: 0, delete: 0, value: "e\u{301}")
    try document.merge(other: scalars)
    #expect(document.length(obj: text) == 5)
    try document.spliceText(obj: text, start: 1, delete: 1, value: "!")
    #expect(try document.text(obj: text) == "e!e\u{301}👨‍👩‍👧\r\n")
    let heads = document.heads()
    try document.spliceText(obj: text, start: 3, delete: 100)
    #expect(try document.text(obj: text) == "e!e\u{301}")
    #expect(document.lengthAt(obj: text, heads: heads) == 5)
    #expect(document.brokenInvariant() == nil)
  }

  @Test func whatIsNoTextCountsAsOneCharacter() throws {
    for encoding in [TextEncoding.unicodeScalar, .utf8, .utf16, .graphemeCluster] {
      let (document, text) = try text("ab", encoding)
      let block = try document.insertObject(obj: text, index: 1, ty: .Map)
      try document.put(obj: block, key: "type", value: .String("paragraph"))
      #expect(try document.text(obj: text) == "a\u{FFFC}b")
      #expect(document.length(obj: text) == (encoding == .utf8 ? 5 : 3))
      #expect(try document.get(obj: text, index: 1) == .Object(block, .Map))
      try document.delete(obj: text, index: 1)
      #expect(try document.text(obj: text) == "ab")
    }
  }
}
