import Foundation
import TestSupport
import Testing

@testable import Automerge

/// The tree alone, large enough to have several levels.
struct TextTreeTests {
  @Test(arguments: [11, 12] as [UInt64])
  func sumsAndPlacesStayRightWhileTheTreeGrows(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    var mirror: [UInt8] = []
    for step in 0..<6000 {
      let start = Int.random(in: 0...mirror.count, using: &random)
      let delete = step % 3 == 0 ? min(2, mirror.count - start) : 0
      let insert: [UInt8] = step % 50 == 0 ? Array("a line\n".utf8) : [UInt8.random(in: 97...122, using: &random)]
      try document.spliceText(obj: text, utf8Offset: start, deleteUTF8: delete, insert: insert)
      mirror.replaceSubrange(start..<start + delete, with: insert)
      if step % 500 == 0 { #expect(document.brokenInvariant() == nil, "seed \(seed), step \(step)") }
    }
    #expect(document.brokenInvariant() == nil, "seed \(seed)")
    #expect(try document.textUTF8(obj: text, 0..<mirror.count) == mirror, "seed \(seed)")
    var line = 0
    for (offset, byte) in mirror.enumerated() where byte == 0x0A {
      line += 1
      #expect(try document.textMeasure(obj: text, line: line)?.utf8 == offset + 1, "seed \(seed)")
    }
    #expect(try document.textMeasure(obj: text, line: line + 1) == nil)
    let loaded = try Document(document.save())
    #expect(loaded.brokenInvariant() == nil, "seed \(seed)")
    #expect(try loaded.textUTF8(obj: text, 0..<mirror.count) == mirror, "seed \(seed)")
  }

  /// A few bytes can make a hundred thousand empty lists.
  @Test func aSequenceTakesOnlyAsMuchRoomAsItsFirstElementsNeed() throws {
    let document = Document()
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    func room(_ document: Document) throws -> Int { try document.withCore { try $0.sequence(list).tree.runs.count } }
    #expect(try room(document) == 2)
    for count in 0..<100 {
      let loaded = try Document(document.save())
      #expect(loaded.brokenInvariant() == nil && document.brokenInvariant() == nil)
      for each in [loaded, document, document.fork()] {
        #expect(try room(each) <= max(2, 4 * count) + 32 * (count / 14))
      }
      try document.insert(obj: list, index: UInt64(count * 7 % (count + 1)), value: .Int(Int64(count)))
    }
    #expect(document.length(obj: list) == 100)
  }

  @Test func measuresAgreeInEveryUnit() throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    let string = "aé\n😀e\u{301}\n世界👨‍👩‍👧"
    try document.spliceText(obj: text, start: 0, delete: 0, value: string)
    var before = TextMeasure.zero
    for scalar in string.unicodeScalars {
      #expect(try document.textMeasure(obj: text, utf8Offset: before.utf8) == before)
      #expect(try document.textMeasure(obj: text, scalarOffset: before.scalars) == before)
      #expect(try document.textMeasure(obj: text, utf16Offset: before.utf16) == before)
      if scalar.utf16.count == 2 {
        #expect(try document.textMeasure(obj: text, utf16Offset: before.utf16 + 1) == before)
        #expect(try document.textMeasure(obj: text, utf8Offset: before.utf8 + 2) == before)
      }
      before = before + TextMeasure(of: Array(String(scalar).utf8))
    }
    #expect(try document.textMeasure(obj: text) == before)
    #expect(throws: DocError.outOfBounds(UInt64(before.utf8 + 1))) {
      try document.textMeasure(obj: text, utf8Offset: before.utf8 + 1)
    }
  }

  @Test func typingIntoOnePlaceIsOneRun() throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    for offset in 0..<500 {
      try document.spliceText(obj: text, utf8Offset: offset, deleteUTF8: 0, insert: [97])
      document.commitWith()
    }
    for offset in (400..<500).reversed() {
      try document.spliceText(obj: text, utf8Offset: offset, deleteUTF8: 1, insert: [])
      document.commitWith()
    }
    #expect(try runCount(document, text) == 2)
    #expect(try runCount(Document(document.save()), text) == 2)
  }

  @Test func twoWhoTypeAtOnceKeepTheirRuns() throws {
    let document = try Document(actor: "aa"), text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "|")
    let other = document.fork()
    for _ in 0..<300 {
      try document.spliceText(obj: text, start: 0, delete: 0, value: nil)
      try document.spliceText(obj: text, start: document.length(obj: text), delete: 0, value: "x")
      try other.spliceText(
        obj: text, start: UInt64(other.text(obj: text).prefix { $0 == "y" }.count), delete: 0, value: "y")
      try document.merge(other: other)
      try other.merge(other: document)
    }
    #expect(try document.text(obj: text) == other.text(obj: text))
    #expect(try runCount(document, text) < 40)
  }

  private func runCount(_ document: Document, _ text: ObjId) throws -> Int {
    try document.withCore { core in
      var count = 0
      try core.text(text).tree.forEachRun { _ in count += 1 }
      return count
    }
  }
}
