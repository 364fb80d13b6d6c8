import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Undoing in a line that another person has deleted since.
struct LinesApartTests {
  /// Ana's and Ben's copies of a text.
  private struct Pair {
    let ana: Document
    let ben: Document
    let text: ObjId

    init(_ content: String) throws {
      ana = try Document(actor: "0a")
      text = try ana.putObject(obj: .ROOT, key: "text", ty: .Text)
      try ana.spliceText(obj: text, start: 0, delete: 0, value: content)
      ana.commitWith()
      ben = ana.fork()
      try ben.rename("0b")
    }

    var shown: String { get throws { try ana.text(obj: text) } }

    /// One change, known to both.
    func insert(_ piece: String, at offset: UInt64, in document: Document) throws -> [ChangeHash] {
      try document.spliceText(obj: text, start: offset, delete: 0, value: piece)
      document.commitWith()
      try (document === ana ? ben : ana).merge(other: document)
      return Array(document.heads())
    }

    /// One change, in which every `old` becomes `new`.
    func replace(_ old: String, by new: String, in document: Document) throws -> [ChangeHash] {
      let content = Array(try document.text(obj: text).utf8)
      for start in content.indices.reversed() where content[start...].starts(with: old.utf8) {
        try document.spliceText(obj: text, start: UInt64(start), delete: Int64(old.utf8.count), value: new)
      }
      document.commitWith()
      try (document === ana ? ben : ana).merge(other: document)
      return Array(document.heads())
    }

    func undo(_ changes: [ChangeHash], in document: Document? = nil) throws -> [ChangeHash] {
      let document = document ?? ana
      let made = try document.revert(changes)
      try (document === ana ? ben : ana).merge(other: document)
      return made.map { [$0] } ?? []
    }
  }

  @Test func whatWasReplacedInADeletedLineDoesNotReturn() throws {
    let pair = try Pair("milk is white\nbread is brown\nsalt is salty\nend")
    let replaced = try pair.replace("is ", by: "was ", in: pair.ana)
    _ = try pair.replace("bread was brown\n", by: "", in: pair.ben)
    let undone = try pair.undo(replaced)
    #expect(try pair.shown == "milk is white\nsalt is salty\nend")
    _ = try pair.undo(undone)
    #expect(try pair.shown == "milk was white\nsalt was salty\nend")
  }

  @Test(arguments: ["milk ", "is ", "white"]) func aWordOfADeletedLineReturnsAsALine(word: String) throws {
    let pair = try Pair("first\nmilk is white\nend")
    let deleted = try pair.replace(word, by: "", in: pair.ana)
    let left = "milk is white\n".replacing(word, with: "")
    _ = try pair.replace(left, by: "", in: pair.ben)
    #expect(try pair.shown == "first\nend")
    let undone = try pair.undo(deleted)
    #expect(try pair.shown == "first\n\(word)\nend")
    _ = try pair.undo(undone)
    #expect(try pair.shown == "first\nend")
  }

  /// An editor deletes the last line with the line end before it.
  @Test func aWordOfTheDeletedLastLineReturnsAsTheLastLine() throws {
    let pair = try Pair("first\nsalt is salty")
    let deleted = try pair.replace("salt ", by: "", in: pair.ana)
    _ = try pair.replace("\nis salty", by: "", in: pair.ben)
    _ = try pair.undo(deleted)
    #expect(try pair.shown == "first\nsalt ")
  }

  @Test(arguments: ["", "is "]) func aWordReturnsToALineThatIsStillThere(rest: String) throws {
    let pair = try Pair("first\nmilk is white\nend")
    let deleted = try pair.replace("milk ", by: "", in: pair.ana)
    _ = try pair.replace(rest.isEmpty ? "is white" : "white", by: "", in: pair.ben)
    _ = try pair.undo(deleted)
    #expect(try pair.shown == "first\nmilk \(rest)\nend")
  }

  /// The line end was deleted, too, but by the person who undoes it.
  @Test func wordsAndLineEndsReturnTogether() throws {
    let pair = try Pair("first\nmilk is white\nbread is brown\nend")
    var deleted = try pair.replace("milk ", by: "", in: pair.ana)
    deleted += try pair.replace("is white\n", by: "", in: pair.ana)
    _ = try pair.undo(deleted)
    #expect(try pair.shown == "first\nmilk is white\nbread is brown\nend")
  }

  /// As C-k C-k in Emacs, whose two deletions are undone one after the other.
  @Test func aLineAndItsEndReturnOneAfterTheOther() throws {
    let pair = try Pair("first\nmilk is white\nend")
    let words = try pair.replace("milk is white", by: "", in: pair.ana)
    try pair.ana.spliceText(obj: pair.text, start: 6, delete: 1)
    pair.ana.commitWith()
    let end = Array(pair.ana.heads())
    try pair.ben.merge(other: pair.ana)
    #expect(try pair.shown == "first\nend")
    var undone: [[ChangeHash]] = []
    for change in [end, words] { undone.append(try pair.undo(change)) }
    #expect(try pair.shown == "first\nmilk is white\nend")
    for change in undone.reversed() { _ = try pair.undo(change) }
    #expect(try pair.shown == "first\nend")
  }

  /// Everything behind a line that is kept apart is where the undo expects it.
  @Test func whatComesBehindALineThatIsKeptApartIsUndoneAsWell() throws {
    let pair = try Pair("one two\nthree four\nfive six\nseven\n")
    for edits in [[("two", "2"), ("four", "4"), ("six", "6")], [("two", ""), ("four", ""), ("six", "")]] {
      let before = try pair.shown
      for (word, new) in edits {
        let content = try pair.shown
        guard let range = content.range(of: word) else { continue }
        let start = content.utf8.distance(from: content.startIndex, to: range.lowerBound)
        try pair.ana.spliceText(obj: pair.text, start: UInt64(start), delete: Int64(word.count), value: new)
      }
      try pair.ana.spliceText(obj: pair.text, start: pair.ana.length(obj: pair.text), delete: 0, value: "eight\n")
      pair.ana.commitWith()
      let replaced = Array(pair.ana.heads())
      try pair.ben.merge(other: pair.ana)
      let line = try #require(try pair.shown.split(separator: "\n").first { $0.hasPrefix("three ") }) + "\n"
      _ = try pair.replace(String(line), by: "", in: pair.ben)
      _ = try pair.undo(replaced)
      let expected = before.replacing("three four\n", with: edits[1].1.isEmpty ? "four\n" : "")
      #expect(try pair.shown == expected)
      if edits[1].1.isEmpty { break }
      _ = try pair.replace("five", by: "three four\nfive", in: pair.ben)
    }
  }

  /// Two people edit lines at random, and one of them undoes: the documents stay whole and equal.
  @Test(arguments: UInt64(1)...30) func undoneAtRandomTheTextsStayEqual(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pair = try Pair("milk is white\nbread is brown\nsalt is salty\nend\n")
    var mine: [[ChangeHash]] = []
    for _ in 0..<40 {
      let document = Bool.random(using: &random) ? pair.ana : pair.ben
      let length = Int(document.length(obj: pair.text))
      let start = Int.random(in: 0...length, using: &random)
      if document === pair.ana, Int.random(in: 0..<3, using: &random) == 0, let last = mine.popLast() {
        _ = try pair.undo(last)
      } else {
        let value = ["", "x", "tea\n", "\n", "a b"].randomElement(using: &random) ?? ""
        let count = Int.random(in: 0...min(12, length - start), using: &random)
        try document.spliceText(obj: pair.text, start: UInt64(start), delete: Int64(count), value: value)
        let before = document.getHistory().count
        document.commitWith()
        if document === pair.ana, document.getHistory().count > before { mine.append(Array(document.heads())) }
        if Bool.random(using: &random) {
          try pair.ana.merge(other: pair.ben)
          try pair.ben.merge(other: pair.ana)
        }
      }
      #expect(pair.ana.brokenInvariant() == nil, "seed \(seed)")
    }
    try pair.ana.merge(other: pair.ben)
    try pair.ben.merge(other: pair.ana)
    #expect(try pair.ana.text(obj: pair.text) == pair.ben.text(obj: pair.text), "seed \(seed)")
    #expect(try Document(pair.ana.save()).text(obj: pair.text) == pair.shown, "seed \(seed)")
  }

  @Test func ofATextThatAnotherPersonEmptiedNothingReplacedReturns() throws {
    let line = "milk is white\n", count = 2_000
    let pair = try Pair(String(repeating: line, count: count))
    let replaced = try pair.replace("is", by: "was", in: pair.ana)
    try pair.ben.spliceText(
      obj: pair.text, start: 0, delete: Int64(pair.ben.length(obj: pair.text)), value: "end\n")
    pair.ben.commitWith()
    try pair.ana.merge(other: pair.ben)
    _ = try pair.undo(replaced)
    #expect(try pair.shown == "end\n")
  }

  /// The line end was the undone person's, and the line has another person's words by now.
  @Test(arguments: ["one\ntwo\n", "one\ntwo"]) func anUndoneLineLeavesAnotherPersonsWordsInALineOfTheirOwn(text: String)
    throws
  {
    let pair = try Pair(text)
    let opened = try pair.insert("\n", at: 3, in: pair.ana)
    let typed = try pair.insert("below", at: 4, in: pair.ana)
    _ = try pair.insert(" and Ben", at: 9, in: pair.ben)
    _ = try pair.undo(opened + typed)
    #expect(try pair.shown == text.replacing("one\n", with: "one\n and Ben\n"))
  }
}
