import Automerge
import Foundation
import Testing

@testable import NotesServer

/// An agenda item that one person moves while another types into it.
struct MovedItemTests {
  private let ana: Document
  private let bob: Document
  private let old: NoteDocument

  init() throws {
    ana = Document(textEncoding: .utf8)
    _ = try MeetingDocument(
      new: ana,
      MeetingContent(
        title: "Weekly", attendees: [],
        agendas: [
          .init(id: "tea", title: "Tea", discussion: "green\n"),
          .init(id: "cake", title: "Cake", discussion: "apple\n"),
        ]))
    ana.commitWith()
    bob = ana.fork()
    old = try #require(NoteDocument(ana, item: "cake"))
  }

  private func type(_ text: String, at offset: Int, deleting count: Int = 0, in document: Document) throws {
    let note = try #require(NoteDocument(document, item: "cake"))
    try document.spliceText(obj: note.content, utf8Offset: offset, deleteUTF8: count, insert: Array(text.utf8))
    document.commitWith()
  }

  private func moveCake(in document: Document) throws {
    let meeting = try #require(MeetingDocument(document))
    try meeting.move(#require(meeting.item("cake")), to: 0)
    document.commitWith()
  }

  /// Does what Ana's process does when it receives Bob's move.
  private func follow() throws -> [TextSplice]? {
    let new = try #require(NoteDocument(ana, item: "cake"))
    #expect(new.content != old.content)
    return MovedItem(old: old, new: new) { [ana] in $0 == ana.actor }.wordsLeftBehind
  }

  private func makeSplices(_ splices: [TextSplice]) throws {
    for splice in splices {
      let text = String(decoding: splice.insert, as: UTF8.self)
      try type(text, at: splice.utf8Offset, deleting: splice.deleteUTF8, in: ana)
    }
  }

  private func text(_ document: Document) throws -> String {
    let note = try #require(NoteDocument(document, item: "cake"))
    return try document.text(obj: note.content)
  }

  @Test func manyMovesAreFollowedOnlyIfBothTextsHaveThem() throws {
    for _ in 0..<300 { try moveCake(in: ana) }
    let seen = try #require(NoteDocument(ana, item: "cake"))
    try bob.merge(other: ana)
    for (count, isTooMany) in [(1, false), (63, false), (1, true)] {
      for _ in 0..<count { try moveCake(in: bob) }
      let new = try #require(NoteDocument(bob, item: "cake"))
      let moved = MovedItem(old: new.with(earlier: seen.content), new: new) { _ in true }
      #expect((moved.wordsLeftBehind == nil) == isTooMany)
    }
  }

  @Test func whatWasTypedBesidesTheMoveIsSaid() throws {
    try type("fresh ", at: 0, in: ana)
    try moveCake(in: bob)
    try type("pie", at: 6, in: bob)
    try ana.merge(other: bob)
    #expect(try text(ana) == "apple\npie")
    try makeSplices(try #require(try follow()))
    #expect(try text(ana) == "fresh apple\npie")
  }

  @Test func whatWasTypedBesidesSeveralMovesIsSaid() throws {
    try type("fresh ", at: 0, in: ana)
    try moveCake(in: bob)
    try type("pie", at: 6, in: bob)
    // Cleo receives the first move only, and types into a copy that no editor shows any more.
    let cleo = bob.fork()
    try type("sour ", at: 0, in: cleo)
    let meeting = try #require(MeetingDocument(bob))
    try meeting.move(#require(meeting.item("cake")), to: 1)
    bob.commitWith()
    try type("with ", at: 6, in: bob)
    try moveCake(in: bob)
    try type("ripe ", at: 0, in: bob)
    try ana.merge(other: cleo)
    try ana.merge(other: bob)
    #expect(try text(ana) == "ripe apple\nwith pie")
    try makeSplices(try #require(try follow()))
    let result = try text(ana)
    #expect(["fresh ripe apple\nwith pie", "ripe fresh apple\nwith pie"].contains(result), "\(result)")
  }

  @Test func anEmptyTextIsMovedToo() throws {
    let document = try #require(NoteDocument(bob, item: "cake"))
    try bob.spliceText(obj: document.content, utf8Offset: 0, deleteUTF8: 6, insert: [])
    bob.commitWith()
    try moveCake(in: bob)
    try type("fresh ", at: 0, in: ana)
    try ana.merge(other: bob)
    try makeSplices(try #require(try follow()))
    #expect(try text(ana) == "fresh ")
  }

  /// Ana's process was killed before it received Bob's move; her next process writes as another actor.
  @Test func whatAnEarlierProcessOfThePersonTypedIsBroughtToo() throws {
    try type("fresh ", at: 0, in: ana)
    let next = ana.fork()
    try type("my ", at: 0, in: next)
    try moveCake(in: bob)
    try type("pie", at: 6, in: bob)
    let left = try #require(NoteDocument(next, item: "cake"))
    try next.merge(other: bob)
    let new = try #require(NoteDocument(next, item: "cake"))
    let own = [ana.actor, next.actor]
    let splices = try #require(MovedItem(old: left, new: new, isOwn: own.contains).wordsLeftBehind)
    for splice in splices {
      try next.spliceText(
        obj: new.content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
    #expect(try text(next) == "my fresh apple\npie")
  }

  @Test func whatTheMoverHadIsNotSaidAgain() throws {
    try type("fresh ", at: 0, in: ana)
    try bob.merge(other: ana)
    try moveCake(in: bob)
    try ana.merge(other: bob)
    #expect(try follow() == [])
    #expect(try text(ana) == "fresh apple\n")
  }

  @Test func whatOthersTypedIsTheirsToSay() throws {
    let cleo = ana.fork()
    try type("sweet ", at: 0, in: cleo)
    try type("old ", at: 0, deleting: 5, in: ana)
    try moveCake(in: bob)
    try ana.merge(other: cleo)
    try ana.merge(other: bob)
    try makeSplices(try #require(try follow()))
    #expect(try text(ana) == "old \n")
  }

  @Test func thePersonWhoMovedItHasNothingToAdd() throws {
    try type("fresh ", at: 0, in: ana)
    try moveCake(in: ana)
    #expect(try follow() == [])
    #expect(try text(ana) == "fresh apple\n")
  }

  /// Ana and Bob move the item at the same moment, and both type before and after.
  @Test func ofTwoMovesOneCountsAndAllWordsComeToIt() throws {
    try type("fresh ", at: 0, in: ana)
    try type("pie", at: 6, in: bob)
    try moveCake(in: ana)
    try moveCake(in: bob)
    let texts = try [ana, bob].map { try #require(NoteDocument($0, item: "cake")) }
    try type("my ", at: 0, in: ana)
    try type(" now", at: 9, in: bob)
    try ana.merge(other: bob)
    try bob.merge(other: ana)
    for (document, text) in zip([ana, bob], texts) {
      let counted = try #require(NoteDocument(document, item: "cake"))
      guard counted.content != text.content else { continue }
      let moved = MovedItem(old: text, new: counted) { $0 == document.actor }
      #expect(moved.isBranch)
      for splice in try #require(moved.wordsLeftBehind) {
        try document.spliceText(
          obj: counted.content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
      }
      let meeting = try #require(MeetingDocument(document))
      #expect(meeting.items.count == 2)
      try meeting.removeCopies(of: meeting.items, by: document.actor)
      document.commitWith()
    }
    try ana.merge(other: bob)
    try bob.merge(other: ana)
    #expect(try text(ana) == "my fresh apple\npie now")
    #expect(try text(bob) == text(ana))
    #expect(MeetingDocument(ana)?.content.agendas.map(\.title).sorted() == ["Cake", "Tea"])
    guard case .Object(let agendas, _)? = try ana.get(obj: .ROOT, key: "agendas") else { throw CancellationError() }
    #expect(ana.length(obj: agendas) == 2, "the copy that does not count is gone")
  }

  /// A third person receives one of two moves, types there, and then receives the other, which counts instead.
  @Test func whatAThirdOneTypedIntoTheMoveThatDoesNotCountComesToo() throws {
    let cleo = ana.fork()
    try type("fresh ", at: 0, in: ana)
    try moveCake(in: ana)
    // Of two moves, the one with more edits before it counts.
    try type("very good ", at: 0, in: bob)
    try moveCake(in: bob)
    try cleo.merge(other: ana)
    let seen = try #require(NoteDocument(cleo, item: "cake"))
    try type("sour ", at: 6, in: cleo)
    try cleo.merge(other: bob)
    let counted = try #require(NoteDocument(cleo, item: "cake"))
    #expect(counted.content != seen.content)
    let splices = try #require(MovedItem(old: seen, new: counted) { $0 == cleo.actor }.wordsLeftBehind)
    #expect(
      splices.map { String(decoding: $0.insert, as: UTF8.self) }.joined() == "sour ", "what Ana typed is hers to bring")
  }

  /// The editor sends its text after its process and, at the same moment, another one has moved the item.
  @Test func aBufferFromTheMoveThatDoesNotCountHasNothingToAdd() throws {
    for _ in 0..<3 {
      try moveCake(in: ana)
      try moveCake(in: bob)
    }
    let texts = try [ana, bob].map { try #require(NoteDocument($0, item: "cake")) }
    let heads = [ana.heads(), bob.heads()]
    let merged = ana.fork()
    try merged.merge(other: bob)
    let counted = try #require(NoteDocument(merged, item: "cake"))
    let lost = try #require(texts.firstIndex { $0.content != counted.content })
    try type("fresh ", at: 0, in: merged)
    func splices(_ text: String) -> [TextSplice] {
      let base = TextBase(heads: heads[lost], steps: [], object: texts[lost].textObject)
      let merge = ThreeWayMerge(note: counted, bases: [base], encoding: .utf8, gate: .plain)
      return merge.open(version: 1, text: Array(text.utf8)).splices
    }
    #expect(splices("apple\n") == [])
    #expect(splices("apple\npie\n").map { String(decoding: $0.insert, as: UTF8.self) } == ["pie\n"])
    // Text typed into the move that does not count, and that no process has brought yet, is not treated as deleted.
    try merged.spliceText(obj: texts[lost].content, utf8Offset: 0, deleteUTF8: 0, insert: Array("old ".utf8))
    merged.commitWith()
    #expect(splices("apple\n").allSatisfy { $0.deleteUTF8 == 0 })
  }

  @Test func anItemThatSomethingElseReplacedIsNotTakenForAMovedOne() throws {
    let meeting = try #require(MeetingDocument(bob))
    try meeting.delete(try #require(meeting.item("cake")))
    try meeting.insert(.init(id: "cake", title: "Cake", discussion: "something else\n"), at: 0)
    bob.commitWith()
    try type("fresh ", at: 0, in: ana)
    try ana.merge(other: bob)
    #expect(try follow() == nil)
  }
}
