import Automerge
import Foundation
import Testing

@testable import NotesServer

/// An agenda item that one person moves while another types into it.
@Suite struct RemadeTextTests {
  private let ana: Document
  private let bob: Document
  private let old: NoteDocument
  /// A state in which the item was where it was.
  private let before: Set<ChangeHash>

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
    before = ana.heads()
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

  /// Does at Ana's what her process does when Bob's move has come.
  private func follow() throws -> [TextSplice]? {
    let new = try #require(NoteDocument(ana, item: "cake"))
    #expect(new.content != old.content)
    return RemadeText(old: old, new: new).wordsLeftBehind(by: ana.actor, since: before)
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
    // A third one hears of the first move only, and types where nobody looks any more.
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

  @Test func whoMovedItHasNothingToAdd() throws {
    try type("fresh ", at: 0, in: ana)
    try moveCake(in: ana)
    #expect(try follow() == [])
    #expect(try text(ana) == "fresh apple\n")
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
