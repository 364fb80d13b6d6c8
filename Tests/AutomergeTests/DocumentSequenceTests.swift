import Foundation
import TestSupport
import Testing

@testable import Automerge

struct DocumentSequenceTests {
  private func list(_ document: Document, _ values: [ScalarValue]) throws -> ObjId {
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    try document.splice(obj: list, start: 0, delete: 0, values: values)
    return list
  }

  @Test func listsAreInsertedIntoReplacedAndDeleted() throws {
    let document = Document(), list = try list(document, [.String("a"), .String("long"), .Int(3)])
    try document.insert(obj: list, index: 1, value: .Null)
    try document.put(obj: list, index: 0, value: .Boolean(true))
    try document.insert(obj: list, index: 4, value: .String("z"))
    try document.delete(obj: list, index: 2)
    #expect(
      try document.values(obj: list)
        == [.Boolean(true), .Null, .Int(3), .String("z")].map { Value.Scalar($0) })
    #expect(document.length(obj: list) == 4)
    #expect(try document.get(obj: list, index: 3) == .Scalar(.String("z")))
    #expect(try document.get(obj: list, index: 4) == nil)
    #expect(document.brokenInvariant() == nil)
  }

  @Test func objectsStandInLists() throws {
    let document = Document(), list = try list(document, [.Int(1)])
    let map = try document.insertObject(obj: list, index: 1, ty: .Map)
    let text = try document.putObject(obj: list, index: 0, ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "in a list")
    try document.put(obj: map, key: "k", value: .Uint(1))
    #expect(try document.values(obj: list) == [.Object(text, .Text), .Object(map, .Map)])
    let loaded = try Document(document.save())
    #expect(try loaded.text(obj: text) == "in a list")
    #expect(try loaded.mapEntries(obj: map).map(\.0) == ["k"])
    #expect(document.objectType(obj: list) == .List)
  }

  @Test func spliceInsertsFirstAndDeletesBehindThat() throws {
    let document = Document(), list = try list(document, (0..<6).map { .Int($0) })
    try document.splice(obj: list, start: 2, delete: 2, values: [.String("x"), .F64(0.5)])
    try document.splice(obj: list, start: 2, delete: -1, values: [])
    try document.splice(obj: list, start: 4, delete: 100, values: [])
    #expect(
      try document.values(obj: list) == [.Int(0), .String("x"), .F64(0.5), .Int(4)].map { Value.Scalar($0) })
    #expect(throws: DocError.outOfBounds(1)) {
      try document.splice(obj: list, start: 1, delete: -2, values: [.Null])
    }
    #expect(document.length(obj: list) == 4)
  }

  @Test func aPutOfTheSameValueMakesNoOperation() throws {
    let document = Document(), list = try list(document, [.String("a"), .Counter(1)])
    try document.increment(obj: list, index: 1, by: 4)
    let heads = document.heads()
    try document.put(obj: list, index: 0, value: .String("a"))
    try document.put(obj: list, index: 1, value: .Counter(1))
    #expect(document.heads() == heads)
    #expect(try document.get(obj: list, index: 1) == .Scalar(.Counter(5)))
  }

  @Test func concurrentPutsAreAConflictUntilOneIsPutAgain() throws {
    let document = try Document(actor: "aa"), list = try list(document, [.Int(0)])
    let other = document.fork()
    try other.rename("bb")
    try document.put(obj: list, index: 0, value: .Int(1))
    try other.put(obj: list, index: 0, value: .String("x"))
    try document.merge(other: other)
    #expect(try document.getAll(obj: list, index: 0) == [.Scalar(.Int(1)), .Scalar(.String("x"))])
    #expect(try document.get(obj: list, index: 0) == .Scalar(.String("x")))
    try document.put(obj: list, index: 0, value: .String("x"))
    #expect(try document.getAll(obj: list, index: 0) == [.Scalar(.String("x"))])
  }

  @Test func incrementsOfSeveralWritersAddUp() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "n", value: .Counter(10))
    let list = try list(document, [.Counter(1), .Int(1)]), other = document.fork()
    try document.increment(obj: .ROOT, key: "n", by: -3)
    try other.increment(obj: .ROOT, key: "n", by: 5)
    try document.increment(obj: list, index: 0, by: 1)
    try other.increment(obj: list, index: 0, by: 1)
    try document.merge(other: other)
    #expect(try document.get(obj: .ROOT, key: "n") == .Scalar(.Counter(12)))
    #expect(try document.get(obj: list, index: 0) == .Scalar(.Counter(3)))
    #expect(throws: DocError.notACounter) { try document.increment(obj: list, index: 1, by: 1) }
    #expect(throws: DocError.notACounter) { try document.increment(obj: .ROOT, key: "none", by: 1) }
  }

  /// The reference implementation puts the new element before the counter's increments, where it then cannot be found.
  @Test func anInsertionBehindAnIncrementedCounterComesBehindIt() throws {
    let document = Document(), list = try list(document, [.Counter(1)])
    try document.increment(obj: list, index: 0, by: 1)
    try document.increment(obj: list, index: 0, by: 1)
    try document.insert(obj: list, index: 1, value: .String("behind"))
    let loaded = try Document(document.save())
    for each in [document, loaded] {
      #expect(try each.values(obj: list) == [.Scalar(.Counter(3)), .Scalar(.String("behind"))])
      #expect(each.brokenInvariant() == nil)
    }
    #expect(loaded.heads() == document.heads())
  }

  /// The operations of one writer have one number after the other: what is read is one run until the new letter comes.
  @Test(arguments: ["ü\nb", "ü\n", "\n", "ab\n", "ü\n\n", "\nü\n😀"])
  func aTextWhoseLettersWereDeletedAndTheLastReplacedCanBeLoaded(text: String) throws {
    let document = Document(), object = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: object, start: 0, delete: 0, value: text)
    for _ in text.unicodeScalars.dropLast() { try document.spliceText(obj: object, start: 0, delete: 1, value: nil) }
    try document.put(obj: object, index: 0, value: .String("B"))
    let loaded = try Document(document.save())
    #expect(loaded.brokenInvariant() == nil)
    #expect(try loaded.text(obj: object) == "B")
    #expect(try loaded.textMeasure(obj: object) == document.textMeasure(obj: object))
  }

  @Test func tablesReadAndAreWrittenAsMaps() throws {
    let document = Document()
    let table = try document.withCore { try $0.putObject(.ROOT, key: "table", action: .makeTable) }
    let row = try document.putObject(obj: table, key: "row", ty: .Map)
    try document.put(obj: row, key: "column", value: .Int(1))
    let loaded = try Document(document.save())
    #expect(loaded.objectType(obj: table) == .Map)
    #expect(loaded.keys(obj: table) == ["row"])
    try loaded.put(obj: table, key: "more", value: .Null)
    #expect(try loaded.values(obj: table) == [.Scalar(.Null), .Object(row, .Map)])
    #expect(try loaded.get(obj: row, key: "column") == .Scalar(.Int(1)))
    #expect(try Document(loaded.save()).heads() == loaded.heads())
  }

  @Test func textsAreSequencesOfTheirScalars() throws {
    let document = Document(textEncoding: .utf16), text = try document.putObject(obj: .ROOT, key: "t", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "a😀b")
    #expect(try document.get(obj: text, index: 2) == .Scalar(.String("😀")))
    try document.put(obj: text, index: 1, value: .String("e\u{301}!"))
    #expect(try document.text(obj: text) == "ae\u{301}!b")
    try document.insert(obj: text, index: 2, value: .Int(7))
    #expect(try document.text(obj: text) == "ae\u{301}!\u{FFFC}b")
    try document.delete(obj: text, index: 1)
    try document.delete(obj: text, index: 99)
    #expect(try document.text(obj: text) == "a\u{FFFC}b")
    #expect(document.brokenInvariant() == nil)
  }

  @Test func whatIsNotThereOrNotASequenceIsRefused() throws {
    let document = Document(), list = try list(document, [.Int(0)])
    let unknown = ObjId(counter: 99, actor: document.actor)
    #expect(throws: DocError.outOfBounds(1)) { try document.put(obj: list, index: 1, value: .Null) }
    #expect(throws: DocError.outOfBounds(2)) { try document.insert(obj: list, index: 2, value: .Null) }
    #expect(throws: DocError.outOfBounds(1)) { try document.delete(obj: list, index: 1) }
    #expect(throws: DocError.outOfBounds(.max)) { try document.insert(obj: list, index: .max, value: .Null) }
    #expect(throws: DocError.wrongType(.ROOT, .Map)) { try document.insert(obj: .ROOT, index: 0, value: .Null) }
    #expect(throws: DocError.wrongType(list, .List)) { try document.put(obj: list, key: "k", value: .Null) }
    #expect(throws: DocError.unknownObject(unknown)) { try document.values(obj: unknown) }
    #expect(throws: DocError.invalidValue) {
      try document.insert(obj: list, index: 0, value: .Unknown(typeCode: 3, data: Data()))
    }
    #expect(document.length(obj: unknown) == 0)
    #expect(document.keys(obj: list) == [])
    #expect(try document.values(obj: list) == [.Scalar(.Int(0))])
  }
}
