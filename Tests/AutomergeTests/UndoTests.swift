import Foundation
import TestSupport
import Testing

@testable import Automerge

struct UndoTests {
  private func pair(_ content: String) throws -> (document: Document, fork: Document, text: ObjId) {
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: content)
    document.commitWith()
    let fork = document.fork()
    try fork.rename("0b")
    return (document, fork, text)
  }

  @Test func undoingTypingLeavesWhatOthersTypedIntoIt() throws {
    let (document, fork, text) = try pair("start. ")
    try document.spliceText(obj: text, start: 7, delete: 0, value: "hello world")
    try fork.merge(other: document)
    try fork.spliceText(obj: text, start: 13, delete: 0, value: "wide ")
    try document.merge(other: fork)
    #expect(try document.text(obj: text) == "start. hello wide world")
    let path = [PathElement(obj: .ROOT, prop: .Key("text"))]
    #expect(
      try document.undo() == [
        Patch(action: .DeleteSeq(DeleteSeq(obj: text, index: 7, length: 6)), path: path),
        Patch(action: .DeleteSeq(DeleteSeq(obj: text, index: 12, length: 5)), path: path),
      ])
    #expect(try document.text(obj: text) == "start. wide ")
    try fork.spliceText(obj: text, start: 0, delete: 0, value: "> ")
    try document.merge(other: fork)
    #expect(document.canRedo)
    try document.redo()
    #expect(try document.text(obj: text) == "> start. hello wide world")
    try document.undo()
    #expect(try document.text(obj: text) == "> start. wide ")
    try fork.merge(other: document)
    #expect(try fork.text(obj: text) == "> start. wide ")
  }

  /// A letter that was typed and deleted separates the line's elements; another person's next line has newer ids than
  /// the undo.
  @Test func aLineThatComesBackIsWholeThoughOthersWroteBehindIt() throws {
    let (document, fork, text) = try pair("start\n")
    try document.spliceText(obj: text, start: 1, delete: 0, value: "x")
    document.commitWith()
    try document.spliceText(obj: text, start: 1, delete: 1)
    document.commitWith()
    try fork.spliceText(obj: text, start: 6, delete: 0, value: String(repeating: "> ", count: 20))
    try fork.spliceText(obj: text, start: 46, delete: 0, value: "next\n")
    try fork.spliceText(obj: text, start: 6, delete: 40)
    try fork.spliceText(obj: text, start: 6, delete: 0, value: "new\n")
    fork.commitWith()
    try document.spliceText(obj: text, start: 0, delete: 6)
    document.commitWith()
    try document.undo()
    #expect(try document.text(obj: text) == "start\n")
    try document.merge(other: fork)
    #expect(Set(try document.text(obj: text).split(separator: "\n")) == ["start", "new", "next"])
    try document.redo()
    #expect(try document.text(obj: text) == "new\nnext\n")
  }

  /// What was typed into a line is restored in its place, though the line around it was restored after it, as one
  /// piece.
  @Test(arguments: [false, true]) func whatWasTypedIntoALineComesBackInIt(isWritten: Bool) throws {
    let (document, fork, text) = try pair("")
    try document.spliceText(obj: text, start: 0, delete: 0, value: "line\n\n")
    document.commitWith()
    try document.spliceText(obj: text, start: 5, delete: 0, value: "between")
    document.commitWith()
    if isWritten {
      try fork.merge(other: document)
      try fork.spliceText(obj: text, start: 13, delete: 0, value: "behind")
      fork.commitWith()
      try document.merge(other: fork)
    }
    let behind = isWritten ? "behind" : ""
    for _ in 0..<3 {
      try document.undo()
      #expect(try document.text(obj: text) == "line\n\n" + behind)
      try document.undo()
      #expect(try document.text(obj: text) == behind)
      try document.redo()
      #expect(try document.text(obj: text) == "line\n\n" + behind)
      try document.redo()
      #expect(try document.text(obj: text) == "line\nbetween\n" + behind)
    }
  }

  /// A letter that was deleted is restored in its line, though the line has been restored since.
  @Test func aDeletedLetterComesBackInALineThatCameBack() throws {
    let (document, _, text) = try pair("start\n")
    try document.spliceText(obj: text, start: 1, delete: 0, value: "xyz")
    document.commitWith()
    try document.spliceText(obj: text, start: 2, delete: 1)
    document.commitWith()
    try document.spliceText(obj: text, start: 1, delete: 1)
    document.commitWith()
    try document.spliceText(obj: text, start: 0, delete: 7)
    document.commitWith()
    for expected in ["sztart\n", "sxztart\n", "sxyztart\n", "start\n"] {
      try document.undo()
      #expect(try document.text(obj: text) == expected)
    }
    for expected in ["sxyztart\n", "sxztart\n", "sztart\n", ""] {
      try document.redo()
      #expect(try document.text(obj: text) == expected)
    }
  }

  @Test(arguments: [ExpandMark.before, .after, .both, .none])
  func marksThatComeBackGrowAsTheyDid(expand: ExpandMark) throws {
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "one two three")
    try document.mark(obj: text, start: 4, end: 7, expand: expand, name: "bold", value: .Boolean(true))
    document.commitWith()
    try document.spliceText(obj: text, start: 2, delete: 8)
    document.commitWith()
    try document.undo()
    #expect(try document.marks(obj: text) == [Mark(start: 4, end: 7, name: "bold", value: .Boolean(true))])
    try document.spliceText(obj: text, start: 7, delete: 0, value: "_")
    try document.spliceText(obj: text, start: 4, delete: 0, value: "_")
    let start: UInt64 = expand == .before || expand == .both ? 4 : 5
    let end: UInt64 = expand == .after || expand == .both ? 9 : 8
    #expect(try document.marks(obj: text) == [Mark(start: start, end: end, name: "bold", value: .Boolean(true))])
  }

  @Test func undoingADeletionBringsTextBackWithItsMarksBetweenWhatOthersWrote() throws {
    let (document, fork, text) = try pair("one two three")
    try document.mark(obj: text, start: 4, end: 7, expand: .none, name: "bold", value: .Boolean(true))
    document.commitWith()
    try fork.merge(other: document)
    try document.spliceText(obj: text, start: 0, delete: 13)
    try fork.spliceText(obj: text, start: 4, delete: 0, value: "!")
    try fork.spliceText(obj: text, start: 0, delete: 1)
    try document.merge(other: fork)
    #expect(try document.text(obj: text) == "!")
    try document.undo()
    #expect(try document.text(obj: text) == "ne !two three")
    #expect(try document.marks(obj: text) == [Mark(start: 4, end: 7, name: "bold", value: .Boolean(true))])
  }

  @Test func aValueThatOthersHaveReplacedStays() throws {
    let (document, fork, _) = try pair("")
    try document.put(obj: .ROOT, key: "mine", value: .Int(1))
    try document.put(obj: .ROOT, key: "both", value: .Int(1))
    document.commitWith()
    try document.put(obj: .ROOT, key: "mine", value: .Int(2))
    try document.put(obj: .ROOT, key: "both", value: .Int(2))
    document.commitWith()
    try fork.merge(other: document)
    try fork.put(obj: .ROOT, key: "both", value: .Int(3))
    try document.merge(other: fork)
    try document.undo()
    #expect(try document.get(obj: .ROOT, key: "mine") == .Scalar(.Int(1)))
    #expect(try document.get(obj: .ROOT, key: "both") == .Scalar(.Int(3)))
    try document.undo()
    #expect(try document.get(obj: .ROOT, key: "mine") == nil)
    #expect(try document.get(obj: .ROOT, key: "both") == .Scalar(.Int(3)))
    try document.redo()
    try document.redo()
    #expect(try document.get(obj: .ROOT, key: "mine") == .Scalar(.Int(2)))
  }

  @Test func whatOthersHaveDeletedStaysDeleted() throws {
    let (document, fork, _) = try pair("")
    try document.put(obj: .ROOT, key: "key", value: .Int(1))
    document.commitWith()
    try document.put(obj: .ROOT, key: "key", value: .Int(2))
    try fork.merge(other: document)
    try fork.delete(obj: .ROOT, key: "key")
    try document.merge(other: fork)
    try document.undo()
    #expect(try document.get(obj: .ROOT, key: "key") == nil)
  }

  @Test func onlyTheOwnPartOfACounterIsTakenBack() throws {
    let (document, fork, _) = try pair("")
    try document.put(obj: .ROOT, key: "count", value: .Counter(10))
    document.commitWith()
    try fork.merge(other: document)
    try document.increment(obj: .ROOT, key: "count", by: 5)
    try fork.increment(obj: .ROOT, key: "count", by: 100)
    try document.merge(other: fork)
    try document.undo()
    #expect(try document.get(obj: .ROOT, key: "count") == .Scalar(.Counter(110)))
    try document.redo()
    #expect(try document.get(obj: .ROOT, key: "count") == .Scalar(.Counter(115)))
  }

  @Test func aDeletedObjectComesBackWithWhatOthersDidInIt() throws {
    let (document, fork, _) = try pair("")
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    let map = try document.insertObject(obj: list, index: 0, ty: .Map)
    try document.put(obj: map, key: "a", value: .Int(1))
    document.commitWith()
    try fork.merge(other: document)
    try document.delete(obj: list, index: 0)
    try fork.put(obj: map, key: "b", value: .Int(2))
    try document.merge(other: fork)
    #expect(document.length(obj: list) == 0)
    try document.undo()
    guard case .Object(let back, .Map) = try document.get(obj: list, index: 0) else { throw Missing() }
    #expect(back != map)
    #expect(try document.get(obj: back, key: "a") == .Scalar(.Int(1)))
    #expect(try document.get(obj: back, key: "b") == .Scalar(.Int(2)))
  }

  @Test func aNewChangeEndsRedoing() throws {
    let (document, _, text) = try pair("")
    #expect(!document.canRedo)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "a")
    try document.undo()
    #expect(document.canRedo)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "b")
    #expect(!document.canRedo)
    #expect(try document.redo().isEmpty)
    #expect(try document.text(obj: text) == "b")
    try document.undo()
    try document.undo()
    #expect(try document.undo().isEmpty)
    #expect(!document.canUndo)
    #expect(document.keys(obj: .ROOT).isEmpty)
  }

  @Test func whatAnEarlierUndoRestoredIsPartOfWhatItRestores() throws {
    let (document, fork, text) = try pair("base ")
    try document.spliceText(obj: text, start: 5, delete: 0, value: "abc")
    document.commitWith()
    try document.spliceText(obj: text, start: 5, delete: 3)
    try document.undo()
    #expect(try document.text(obj: text) == "base abc")
    try fork.merge(other: document)
    try fork.spliceText(obj: text, start: 6, delete: 1)
    try fork.spliceText(obj: text, start: 0, delete: 0, value: "> ")
    try document.merge(other: fork)
    #expect(try document.text(obj: text) == "> base ac")
    try document.undo()
    #expect(try document.text(obj: text) == "> base ")
    try document.redo()
    #expect(try document.text(obj: text) == "> base ac")
    try document.redo()
    #expect(try document.text(obj: text) == "> base ")
  }

  @Test func aBurstOfChangesIsTakenBackInOneAndDoneAgain() throws {
    let (document, fork, text) = try pair("base ")
    var burst: [ChangeHash] = []
    for (place, letter) in ["a", "b", "c"].enumerated() {
      try document.spliceText(obj: text, start: UInt64(5 + place), delete: 0, value: letter)
      document.commitWith()
      burst.append(try require(document.lastChange(by: document.actor)))
    }
    try fork.merge(other: document)
    try fork.spliceText(obj: text, start: 6, delete: 1, value: "B")
    try document.merge(other: fork)
    #expect(try document.text(obj: text) == "base aBc")
    let undone = try require(document.revert(burst))
    #expect(try document.text(obj: text) == "base B")
    let again = try require(document.revert([undone]))
    #expect(try document.text(obj: text) == "base aBc")
    #expect(try document.revert([again]) != nil)
    #expect(try document.text(obj: text) == "base B")
    // Nothing of it is visible, another author's change is not ours, and an unknown one is none.
    #expect(try document.revert(burst) == nil)
    #expect(try document.revert(Array(fork.heads())) == nil && document.revert([]) == nil)
    try fork.merge(other: document)
    #expect(try fork.text(obj: text) == "base B")
  }

  @Test func anyChangeCanBeTakenBackByItsName() throws {
    let (document, fork, text) = try pair("base")
    try fork.spliceText(obj: text, start: 4, delete: 0, value: " fork")
    fork.commitWith()
    let change = try require(fork.heads().first)
    try document.merge(other: fork)
    try document.spliceText(obj: text, start: 9, delete: 0, value: " more")
    #expect(!(try document.revert(change).isEmpty))
    #expect(try document.text(obj: text) == "base more")
    #expect(try document.revert(change).isEmpty)
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as [UInt64])
  func undoingAndRedoingRandomChangesLeadsBackAndForth(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let document = try Document(actor: "0a")
    let fork = document.fork()
    try fork.rename("0b")
    for step in 0..<25 {
      let note: Comment = "seed \(seed), step \(step)"
      try RandomEditor.edit(fork, using: &random)
      try document.merge(other: fork)
      let before = try document.contentTree(), heads = document.heads()
      for _ in 0..<3 { try RandomEditor.edit(document, using: &random) }
      if document.heads() == heads { continue }
      let after = try document.contentTree()
      var mirror = PatchMirror()
      try mirror.apply(document.difference(from: [], to: document.heads()))
      if before != after {
        try mirror.apply(document.undo())
        #expect(try document.contentTree() == before, note)
        #expect(try mirror.tree() == before, note)
        try mirror.apply(document.redo())
        #expect(try document.contentTree() == after, note)
        #expect(try mirror.tree() == after, note)
      }
      #expect(document.brokenInvariant() == nil, note)
      #expect(document.canUndo, note)
      try fork.merge(other: document)
      #expect(try fork.contentTree() == document.contentTree(), note)
    }
    #expect(try Document(document.save()).heads() == document.heads())
  }

  @Test(arguments: [21, 22, 23, 24, 25, 26] as [UInt64])
  func undoingEverythingPassesThroughEveryEarlierState(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let document = try Document(actor: "0a")
    var states = [try document.contentTree()]
    for _ in 0..<20 {
      for _ in 0..<3 { try RandomEditor.edit(document, using: &random) }
      document.commitWith()
      let state = try document.contentTree()
      if state != states.last { states.append(state) }
    }
    // Changes that show nothing are passed over.
    func step(_ take: () throws -> [Patch], while isMore: () -> Bool) throws {
      let now = try document.contentTree()
      repeat { _ = try take() } while try document.contentTree() == now && isMore()
    }
    for round in 0..<2 {
      for (count, state) in states.reversed().dropFirst().enumerated() {
        try step({ try document.undo() }, while: { document.canUndo })
        try #require(try document.contentTree() == state, "seed \(seed), round \(round), undo \(count)")
      }
      for (count, state) in states.dropFirst().enumerated() {
        try step({ try document.redo() }, while: { document.canRedo })
        try #require(try document.contentTree() == state, "seed \(seed), round \(round), redo \(count)")
      }
    }
    #expect(document.brokenInvariant() == nil, "seed \(seed)")
  }

  @Test func undoingIsRefusedWhileAnEarlierStateIsWorkedOn() throws {
    let document = Document()
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "one two three")
    let heads = document.heads()
    try document.spliceText(obj: text, start: 4, delete: 4)
    try document.spliceText(obj: text, start: 0, delete: 2, value: "two")
    let change = try require(document.heads().first)
    try document.isolate(heads: heads)
    #expect(!document.canUndo && !document.canRedo)
    #expect(throws: DocError.isolated) { try document.undo() }
    #expect(throws: DocError.isolated) { try document.redo() }
    #expect(throws: DocError.isolated) { try document.revert(change) }
    #expect(try document.text(obj: text) == "one two three")
    document.integrate()
    #expect(try document.text(obj: text) == "twoe three")
    try document.undo()
    #expect(try document.text(obj: text) == "one two three")
  }
}
