import Automerge
import Foundation
import Testing

@testable import NotesServer

/// A document that continues without Ben, and the changes that are brought into it afterwards.
struct LateWordsTests {
  private let ana = LateWordsTests.actor(1), ben = LateWordsTests.actor(2), carol = LateWordsTests.actor(3)

  private static func actor(_ number: UInt8) -> ActorId {
    ActorId(data: Data(repeating: number, count: 16)) ?? ActorId()
  }

  private func note(_ text: String) throws -> (Document, ObjId) {
    let document = Document(textEncoding: .utf8)
    document.actor = ana
    let note = try NoteDocument(
      new: document, title: "Plans", text: Array(text.utf8), created: Date(timeIntervalSince1970: 0))
    document.commitWith(message: nil)
    return (document, note.content)
  }

  private func write(_ words: String, before anchor: String, by actor: ActorId, in document: Document, _ text: ObjId)
    throws
  {
    document.actor = actor
    let bytes = Array(try document.text(obj: text).utf8), wanted = Array(anchor.utf8)
    let place = bytes.indices.first { bytes[$0...].starts(with: wanted) } ?? bytes.count
    try document.spliceText(obj: text, utf8Offset: place, deleteUTF8: 0, insert: Array(words.utf8))
    document.commitWith(message: nil)
  }

  private func erase(_ words: String, by actor: ActorId, in document: Document, _ text: ObjId) throws {
    document.actor = actor
    let bytes = Array(try document.text(obj: text).utf8), wanted = Array(words.utf8)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: wanted) })
    try document.spliceText(obj: text, utf8Offset: place, deleteUTF8: wanted.count, insert: [])
    document.commitWith(message: nil)
  }

  @Test func wordsOfThoseWhoStayAreBroughtAsOftenAsOneLikes() throws {
    let (old, text) = try note("one\ntwo\n")
    let new = old.fork()
    new.actor = Self.actor(9)
    try write("by Carol\n", before: "two", by: carol, in: old, text)
    try write("by Ana\n", before: "one", by: Self.actor(9), in: new, text)
    for _ in 0..<2 {
      let words = LateWords(in: old, notIn: new, isRemoved: { $0 == ben }, isOwn: { $0 == carol })
      if !words.changes.isEmpty { try new.applyEncodedChanges(encoded: words.changes) }
      #expect(words.stuck == [] && words.leftOut == [])
    }
    #expect(try new.text(obj: text) == "by Ana\none\nby Carol\ntwo\n")
    let history = Set(old.getHistory())
    #expect(history.isSubset(of: Set(new.getHistory())))
  }

  @Test func wordsOfTheOneWhoWasRemovedStayOut() throws {
    let (old, text) = try note("one\ntwo\n")
    try write("early Ben\n", before: "two", by: ben, in: old, text)
    let new = old.fork()
    let late = old.fork()
    try write("late Ben\n", before: "one", by: ben, in: late, text)
    try old.merge(other: late)
    let words = LateWords(in: old, notIn: new, isRemoved: { $0 == ben }, isOwn: { $0 == carol })
    #expect(words.changes.isEmpty && words.stuck == [] && words.leftOut.count == 1)
    #expect(try words.withStuckWords(of: old, in: new, text: text) == nil)
    #expect(try new.text(obj: text) == "one\nearly Ben\ntwo\n")
  }

  /// Carol and Ben kept writing, each on top of the other's changes, before Carol learnt of the removal.
  @Test func wordsOnTopOfThoseThatStayOutAreBroughtWithoutThem() throws {
    let (old, text) = try note("one\ntwo\nthree\n")
    let new = old.fork()
    new.actor = Self.actor(9)
    try write("late Ben\n", before: "two", by: ben, in: old, text)
    try write("by Carol\n", before: "three", by: carol, in: old, text)
    try erase("one\n", by: ben, in: old, text)
    try write("Carol again\n", before: "three", by: carol, in: old, text)
    try erase("two\n", by: carol, in: old, text)
    try write("by Ana\n", before: "one", by: Self.actor(9), in: new, text)

    let words = LateWords(in: old, notIn: new, isRemoved: { $0 == ben }, isOwn: { $0 == carol })
    #expect(words.changes.isEmpty && words.stuck.count == 3 && words.leftOut.count == 2)
    let merged = try #require(try words.withStuckWords(of: old, in: new, text: text))
    try new.merge(other: merged)
    // The text has what Ben deleted, but neither what Carol deleted nor what Ben wrote.
    #expect(try new.text(obj: text) == "by Ana\none\nby Carol\nCarol again\nthree\n")
    // Dave has the same document and has written nothing: he does not bring Carol's words again.
    let others = LateWords(in: old, notIn: new, isRemoved: { $0 == ben }, isOwn: { _ in false })
    #expect(try others.withStuckWords(of: old, in: new, text: text) == nil)
    let forbidden = Set(words.leftOut)
    #expect(Set(new.getHistory()).isDisjoint(with: forbidden))
  }

  /// Ana wrote it between two lines that Carol, who did not know of it, replaced by one.
  @Test func aLineBetweenThoseThatLateWordsReplaceStaysALine() throws {
    let (old, text) = try note("tea\nham\nend\n")
    let new = old.fork()
    new.actor = Self.actor(9)
    try write("late Ben\n", before: "end", by: ben, in: old, text)
    try erase("tea\nham\n", by: carol, in: old, text)
    try write("milk\n", before: "late", by: carol, in: old, text)
    try write("eggs\n", before: "ham", by: Self.actor(9), in: new, text)

    let words = LateWords(in: old, notIn: new, isRemoved: { $0 == ben }, isOwn: { $0 == carol })
    let merged = try #require(try words.withStuckWords(of: old, in: new, text: text))
    try new.merge(other: merged)
    #expect(try new.text(obj: text) == "eggs\nmilk\nend\n")
  }
}
