import Foundation
import TestSupport
import Testing

@testable import Automerge

struct UpdateTextTests {
  private func text(_ string: String, _ encoding: TextEncoding = .unicodeScalar) throws -> (Document, ObjId) {
    let document = Document(textEncoding: encoding)
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: string)
    return (document, text)
  }

  /// The fewest clusters to insert and delete, from the longest common subsequence.
  private func fewest(_ old: [Character], _ new: [Character]) -> Int {
    var row = Array(repeating: 0, count: new.count + 1)
    for left in old {
      var diagonal = 0
      for (index, right) in new.enumerated() {
        let above = row[index + 1]
        let isSame = left.utf8.elementsEqual(right.utf8)
        row[index + 1] = isSame ? diagonal + 1 : max(above, row[index])
        diagonal = above
      }
    }
    return old.count + new.count - 2 * (row.last ?? 0)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func anyTextBecomesAnyOtherWithTheFewestEdits(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pieces = ["a", "b", "e\u{301}", "é", "\n", "😀", "👨‍👩‍👧", "\r\n", "\u{301}"]
    func make() -> String {
      (0..<Int.random(in: 0...30, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }
    let (old, new) = (make(), make())
    let difference = TextDifference(from: old, to: new)
    var mirror = Array(old.utf8), shift = 0, cost = 0
    for edit in difference.edits {
      mirror.replaceSubrange(
        edit.old.lowerBound + shift..<edit.old.upperBound + shift, with: Array(new.utf8)[edit.new])
      shift += edit.new.count - edit.old.count
      cost += String(decoding: Array(old.utf8)[edit.old], as: UTF8.self).count
      cost += String(decoding: Array(new.utf8)[edit.new], as: UTF8.self).count
    }
    #expect(mirror == Array(new.utf8), "seed \(seed)")
    #expect(cost == fewest(Array(old), Array(new)), "seed \(seed): \(difference.edits)")
    for encoding in [TextEncoding.graphemeCluster, .unicodeScalar, .utf8, .utf16] {
      let (document, text) = try text(old, encoding)
      try document.updateText(obj: text, value: new)
      #expect(try document.text(obj: text).utf8.elementsEqual(new.utf8), "seed \(seed)")
      #expect(document.brokenInvariant() == nil, "seed \(seed)")
    }
  }

  @Test func updatesOfTwoWritersBothStay() throws {
    let (document, text) = try text("The cat sat on the mat."), other = document.fork()
    try document.updateText(obj: text, value: "The dog sat on the mat.")
    try other.updateText(obj: text, value: "The cat sat on the red mat.")
    try document.merge(other: other)
    #expect(try document.text(obj: text) == "The dog sat on the red mat.")
  }

  @Test func anUpdateToTheSameTextChangesNothing() throws {
    let (document, text) = try text("same"), heads = document.heads()
    try document.updateText(obj: text, value: "same")
    #expect(document.heads() == heads)
    // Equal to a reader, but not in its bytes.
    try document.updateText(obj: text, value: "e\u{301}")
    try document.updateText(obj: text, value: "\u{e9}")
    #expect(try Array(document.text(obj: text).utf8) == [0xc3, 0xa9])
  }

  @Test func longTextsThatDifferAltogetherAreUpdatedSoon() throws {
    var random = SeededGenerator(seed: 5)
    func lines(_ count: Int) -> [String] {
      (0..<count).map { _ in (0..<40).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined() + "\n" }
    }
    var old = lines(500), new = lines(500)
    for (at, line) in lines(50).enumerated() { (old[at * 10], new[at * 10]) = (line, line) }
    let difference = TextDifference(from: old.joined(), to: new.joined())
    // The lines that are in both stay.
    #expect(difference.edits.count >= 49)
    let (document, text) = try text(old.joined())
    let took = try ProcessorTime.inThisThread { try document.updateText(obj: text, value: new.joined()) }
    #expect(took.seconds < 20)
    #expect(try document.text(obj: text) == new.joined())
  }
}
