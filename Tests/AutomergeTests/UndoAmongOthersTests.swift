import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Undoing past what an earlier undo restored, when others have worked on that since.
struct UndoAmongOthersTests {
  private func document() throws -> (document: Document, text: ObjId) {
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    document.commitWith()
    return (document, text)
  }

  private func fork(of document: Document) throws -> Document {
    let fork = document.fork()
    try fork.rename("0b")
    return fork
  }

  @Test func whatOthersDeletedOfRestoredTextStaysDeleted() throws {
    let (document, text) = try document()
    for piece in ["hel", "lo"] {
      try document.spliceText(obj: text, start: document.length(obj: text), delete: 0, value: piece)
      document.commitWith()
    }
    try document.spliceText(obj: text, start: 0, delete: 5)
    try document.undo()
    #expect(try document.text(obj: text) == "hello")
    let fork = try fork(of: document)
    try fork.spliceText(obj: text, start: 1, delete: 1)
    try fork.spliceText(obj: text, start: 0, delete: 0, value: "> ")
    try document.merge(other: fork)
    // This also leaves out the deletion and the undo of it, so that the first letters show again.
    try document.undo()
    #expect(try document.text(obj: text) == "> hl")
    try document.redo()
    #expect(try document.text(obj: text) == "> hllo")
    try fork.merge(other: document)
    try fork.spliceText(obj: text, start: 2, delete: 1)
    try document.merge(other: fork)
    try document.undo()
    #expect(try document.text(obj: text) == "> l")
    try document.redo()
    #expect(try document.text(obj: text) == "> llo")
  }

  @Test func aRestoredLineKeepsItsLineEndThoughAnotherPersonTypedBelowItMeanwhile() throws {
    let (document, text) = try document()
    // The line end is older than the line.
    try document.spliceText(obj: text, start: 0, delete: 0, value: "\n")
    document.commitWith()
    try document.spliceText(obj: text, start: 0, delete: 0, value: "line")
    document.commitWith()
    let fork = try fork(of: document)
    // Its next operations are later than those of the undo.
    for number in 0..<9 as Range<Int64> { try fork.put(obj: .ROOT, key: "count", value: .Int(number)) }
    try fork.spliceText(obj: text, start: 5, delete: 0, value: "below\n")
    try document.spliceText(obj: text, start: 0, delete: 5)
    try document.undo()
    #expect(try document.text(obj: text) == "line\n")
    try document.merge(other: fork)
    let lines = try document.text(obj: text).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.contains("below") && lines.contains { $0.hasSuffix("line") }, "\(lines)")
  }

  @Test func aRestoredElementThatOthersReplacedDoesNotComeTwice() throws {
    let document = try Document(actor: "0a")
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    try document.splice(obj: list, start: 0, delete: 0, values: [.Int(1), .String("b"), .Int(3)])
    document.commitWith()
    try document.put(obj: list, index: 0, value: .Int(10))
    document.commitWith()
    try document.splice(obj: list, start: 0, delete: 3, values: [])
    try document.undo()
    let fork = try fork(of: document)
    try fork.put(obj: list, index: 1, value: .String("other"))
    try fork.delete(obj: list, index: 2)
    try document.merge(other: fork)
    try document.undo()
    #expect(try document.values(obj: list) == [.Scalar(.Int(1)), .Scalar(.String("other"))])
    try document.redo()
    #expect(try document.values(obj: list) == [.Scalar(.Int(10)), .Scalar(.String("other"))])
  }

  @Test func aRestoredKeyThatOthersDeletedStaysDeleted() throws {
    let document = try Document(actor: "0a")
    for number in 1...2 as ClosedRange<Int64> {
      for key in ["deleted", "replaced", "kept"] { try document.put(obj: .ROOT, key: key, value: .Int(number)) }
      document.commitWith()
    }
    for key in ["deleted", "replaced", "kept"] { try document.delete(obj: .ROOT, key: key) }
    try document.undo()
    let fork = try fork(of: document)
    try fork.delete(obj: .ROOT, key: "deleted")
    try fork.put(obj: .ROOT, key: "replaced", value: .Int(9))
    try document.merge(other: fork)
    try document.undo()
    #expect(document.keys(obj: .ROOT) == ["kept", "replaced"])
    #expect(try document.get(obj: .ROOT, key: "kept") == .Scalar(.Int(1)))
    #expect(try document.get(obj: .ROOT, key: "replaced") == .Scalar(.Int(9)))
  }

  @Test func whatOthersWroteInARestoredObjectIsNotLost() throws {
    let document = try Document(actor: "0a")
    let map = try document.putObject(obj: .ROOT, key: "map", ty: .Map)
    try document.put(obj: map, key: "a", value: .Int(1))
    try document.put(obj: .ROOT, key: "count", value: .Counter(1))
    document.commitWith()
    try document.put(obj: map, key: "b", value: .Int(2))
    try document.increment(obj: .ROOT, key: "count", by: 1)
    document.commitWith()
    try document.delete(obj: .ROOT, key: "map")
    try document.delete(obj: .ROOT, key: "count")
    try document.undo()
    let fork = try fork(of: document)
    guard case .Object(let copy, .Map)? = try fork.get(obj: .ROOT, key: "map") else { throw Missing() }
    try fork.put(obj: copy, key: "c", value: .Int(3))
    try fork.delete(obj: copy, key: "a")
    try fork.increment(obj: .ROOT, key: "count", by: 10)
    try document.merge(other: fork)
    while document.canUndo { try document.undo() }
    #expect(try document.get(obj: .ROOT, key: "map") == .Object(copy, .Map))
    #expect(document.keys(obj: copy) == ["b", "c"])
    #expect(try document.get(obj: .ROOT, key: "count") == .Scalar(.Counter(12)))
  }

  @Test func whatOthersCountedOnARestoredElementIsNotLost() throws {
    let document = try Document(actor: "0a")
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    document.commitWith()
    try document.insert(obj: list, index: 0, value: .Counter(1))
    document.commitWith()
    try document.increment(obj: list, index: 0, by: 1)
    document.commitWith()
    try document.delete(obj: list, index: 0)
    document.commitWith()
    try document.undo()
    let fork = try fork(of: document)
    try fork.increment(obj: list, index: 0, by: 10)
    try document.merge(other: fork)
    while document.canUndo { try document.undo() }
    #expect(try document.values(obj: list) == [.Scalar(.Counter(12))])
  }

  @Test func restoredTextHasTheElementsThatItHad() throws {
    let document = Document(textEncoding: .graphemeCluster)
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "a👨‍👩‍👧e\u{301}b")
    document.commitWith()
    try document.spliceText(obj: text, start: 0, delete: 4)
    document.commitWith()
    try document.delete(obj: .ROOT, key: "text")
    document.commitWith()
    try document.undo()
    try document.undo()
    guard case .Object(let back, .Text)? = try document.get(obj: .ROOT, key: "text") else { throw Missing() }
    #expect(try document.text(obj: back) == "a👨‍👩‍👧e\u{301}b")
    #expect(document.length(obj: back) == 4)
    #expect(document.brokenInvariant() == nil)
  }

  /// Every character is written once, so that the text shows which author wrote what and whether it may be visible.
  @Test(arguments: SeedCount.part(of: 1...40 as ClosedRange<UInt64>))
  func noWorkOfOthersIsUndoneOrRedone(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (document, text) = try document(), fork = try fork(of: document)
    var next: UInt32 = 0x4E00, theirs: Set<Unicode.Scalar> = [], deletedByThem: Set<Unicode.Scalar> = []
    var deletedByUs: Set<Unicode.Scalar> = []
    func fresh(_ count: Int) -> [Unicode.Scalar] {
      defer { next += UInt32(count) }
      return (0..<UInt32(count)).compactMap { Unicode.Scalar(next + $0) }
    }
    func string(_ scalars: [Unicode.Scalar]) -> String { String(String.UnicodeScalarView(scalars)) }
    /// A random edit; returns what it inserted and what it deleted. Where two replicas replace one character at once, only
    /// one of them shows, so there is none of that.
    func edit(_ replica: Document, isAlone: Bool) throws -> (inserted: [Unicode.Scalar], deleted: [Unicode.Scalar]) {
      let shown = Array(try replica.text(obj: text).unicodeScalars)
      let start = Int.random(in: 0...shown.count, using: &random)
      let count = min(Int.random(in: 0...4, using: &random), shown.count - start)
      switch Int.random(in: 0..<6, using: &random) {
      case 0 where isAlone && start < shown.count:
        let new = fresh(1)
        try replica.put(obj: text, index: UInt64(start), value: .String(string(new)))
        return (new, [shown[start]])
      case 1 where count > 0 && seed.isMultiple(of: 2):
        try replica.mark(
          obj: text, start: UInt64(start), end: UInt64(start + count), expand: .none, name: "m", value: .Boolean(true))
        return ([], [])
      case 2, 3:
        try replica.spliceText(obj: text, start: UInt64(start), delete: Int64(count))
        return ([], Array(shown[start..<start + count]))
      default:
        let new = fresh(Int.random(in: 1...4, using: &random))
        try replica.spliceText(obj: text, start: UInt64(start), delete: Int64(count), value: string(new))
        return (new, Array(shown[start..<start + count]))
      }
    }
    for step in 0..<40 {
      try fork.merge(other: document)
      let isAtOnce = Bool.random(using: &random)
      let theirEdit = try edit(fork, isAlone: !isAtOnce)
      theirs.formUnion(theirEdit.inserted)
      deletedByThem.formUnion(theirEdit.deleted)
      if isAtOnce { deletedByUs.formUnion(try edit(document, isAlone: false).deleted) }
      try document.merge(other: fork)
      if Bool.random(using: &random) {
        deletedByUs.formUnion(try edit(document, isAlone: true).deleted)
        document.commitWith()
      }
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        if Int.random(in: 0..<3, using: &random) > 0 { try document.undo() } else { try document.redo() }
        let shown = Array(try document.text(obj: text).unicodeScalars)
        let note: Comment = "seed \(seed), step \(step)"
        try #require(Set(shown).count == shown.count, note)
        try #require(Set(shown).isDisjoint(with: deletedByThem), note)
        try #require(theirs.subtracting(deletedByThem).subtracting(deletedByUs).isSubset(of: shown), note)
      }
    }
    #expect(document.brokenInvariant() == nil, "seed \(seed)")
    #expect(try Document(document.save()).text(obj: text) == document.text(obj: text), "seed \(seed)")
  }
}
