import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Documents as JSON.
struct DumpTests {
  /// To Foundation's parser, keys that are canonically equivalent are one.
  private static let names = Vectors.documentNames().filter { !$0.hasPrefix("mapkeys") }

  @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)), arguments: names)
  func aDumpIsWhatTheReferenceSays(name: String) throws {
    let vector = try Vectors.load(name)
    let document = try Document(Data(try require(vector.saved)))
    let dump = try JSON.parse(Data(document.dump().text(indented: true).utf8))
    #expect(dump["heads"] == vector.json["heads"])
    #expect(dump["value"] == vector.json["value"])
    #expect(dump["texts"] == vector.json["texts"])
    #expect(dump["stats"] == vector.json["stats"])
    #expect(dump["changes"].items.count == vector.json["changes"].items.count)
    for (change, expected) in zip(dump["changes"].items, vector.json["changes"].items) {
      for key in [
        "hash", "actor", "seq", "start_op", "max_op", "ops", "time", "deps", "extra", "other_actors", "raw",
      ] {
        #expect(change[key] == expected[key], "\(key)")
      }
      #expect(change["message"].string ?? "" == expected["message"].string ?? "")
      #expect(change["compressed"].isNull == expected["compressed"].isNull)
    }
    #expect(try JSON.parse(Data(document.dump(includingChanges: false).text().utf8))["changes"].isNull)
  }

  @Test func keysThatSwiftTakesForEqualStayApart() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "\u{e9}", value: .Int(1))
    try document.put(obj: .ROOT, key: "e\u{301}", value: .String("\"\\\n\u{1}😀"))
    let text = document.dump(includingChanges: false).text()
    #expect(text.contains(#""\u00e9":{"t":"int","v":"1""#))
    #expect(text.contains(#""e\u0301":{"t":"str","v":"\"\\\u000a\u0001\ud83d\ude00""#))
  }

  /// The winner of a conflict is shown twice, so what stands sixty conflicts deep would be shown 2⁶⁰ times.
  @Test func aDumpOfConflictsInsideConflictsEnds() throws {
    let document = try Document(actor: "0a")
    var object = ObjId.ROOT
    for _ in 0..<60 {
      let other = document.fork()
      try other.rename("0b")
      for each in [document, other] { _ = try each.putObject(obj: object, key: "child", ty: .Map) }
      try document.merge(other: other)
      guard case .Object(let winner, _)? = try document.get(obj: object, key: "child") else { break }
      object = winner
    }
    let text = document.dump(includingChanges: false).text()
    #expect(text.contains("\"\(object.description)\"") && text.contains(#""t":"\u2026""#))
  }

  /// Each piece of such a text names all marks that began before it.
  @Test func aDumpLeavesOutPiecesThatNameVeryManyMarks() throws {
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    func mark(_ range: Range<UInt64>) throws {
      try document.spliceText(
        obj: text, start: range.lowerBound, delete: 0, value: String(repeating: "x", count: range.count))
      for start in range {
        try document.mark(
          obj: text, start: start, end: range.upperBound, expand: .none, name: "\(start)", value: .Boolean(true))
      }
    }
    try mark(0..<100)
    let few = document.dump(includingChanges: false).text()
    try mark(100..<1100)
    let many = document.dump(includingChanges: false).text()
    #expect(few.contains(#""spans":["#) && many.contains(#""spans":"\u2026""#))
    // The marks themselves are all there.
    #expect(many.contains(#""name":"1099""#))
  }

  @Test(
    arguments: [
      (0.0, "0.0"), (-0.0, "-0.0"), (1, "1.0"), (-1.5, "-1.5"), (1e15, "1000000000000000.0"), (1e16, "1e16"),
      (1.25e17, "1.25e17"), (1e-5, "1e-5"), (0.00012, "0.00012"), (1.5e-7, "1.5e-7"), (.infinity, "inf"),
      (-.infinity, "-inf"), (123456.789, "123456.789"), (9_007_199_254_740_992, "9007199254740992.0"),
      (.leastNonzeroMagnitude, "5e-324"), (.greatestFiniteMagnitude, "1.7976931348623157e308"),
    ] as [(Double, String)])
  func numbersAreWrittenInTheirShortestForm(number: Double, text: String) {
    #expect(DocumentDump.decimal(number) == text)
  }

  @Test func aReportTellsTheBadChunksOfAFileFromTheGood() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "k", value: .Int(1))
    let saved = Array(document.save())
    try document.put(obj: .ROOT, key: "k", value: .Int(2))
    let change = Array(document.encodeNewChanges())
    var damaged = change
    damaged[damaged.count - 1] ^= 1
    let reports = ChunkReport.of(Data(saved + damaged + change))
    #expect(reports.map(\.kind) == [.document, .unreadable, .change])
    #expect(reports.map(\.offset) == [0, saved.count, saved.count + change.count])
    #expect(reports.map(\.byteCount) == [saved.count, change.count, change.count])
    #expect(reports.map(\.changeCount) == [1, 0, 1])
    #expect(reports[1].error == .format(.badChecksum(at: saved.count)))
    #expect(ChunkReport.of(Data()).isEmpty)
  }
}
