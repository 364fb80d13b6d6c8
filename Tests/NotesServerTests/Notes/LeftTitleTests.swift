import Automerge
import Foundation
import Testing

@testable import NotesServer

/// An agenda item that some people rename while others move it: the name stays.
@Suite struct LeftTitleTests {
  private let ana: Document
  private let bob: Document

  init() throws {
    ana = Document(textEncoding: .utf8)
    let items = ["tea", "cake"].map { MeetingContent.Item(id: $0, title: $0.capitalized, discussion: "\($0)\n") }
    _ = try MeetingDocument(new: ana, MeetingContent(title: "Weekly", attendees: [], agendas: items))
    ana.commitWith()
    bob = ana.fork()
  }

  private func cake(in document: Document) throws -> (MeetingDocument, MeetingDocument.Item) {
    let meeting = try #require(MeetingDocument(document))
    return (meeting, try #require(meeting.item("cake")))
  }

  private func rename(to title: String, in document: Document) throws {
    let (meeting, cake) = try cake(in: document)
    try meeting.rename(cake, to: title)
    document.commitWith()
  }

  private func move(to place: Int = 0, in document: Document) throws {
    let (meeting, cake) = try cake(in: document)
    try meeting.move(cake, to: place)
    document.commitWith()
  }

  private func leftTitle(in document: Document) throws -> LeftTitle? {
    let (meeting, cake) = try cake(in: document)
    return LeftTitle.find(of: cake, in: meeting)
  }

  @Test func aNameGivenBesideAMoveIsLeftBehind() throws {
    try rename(to: "Torte", in: ana)
    try move(in: bob)
    try bob.merge(other: ana)
    #expect(try leftTitle(in: bob) == LeftTitle(title: "Torte", mover: bob.actor))
    try rename(to: "Torte", in: bob)
    #expect(try leftTitle(in: bob) == nil)
  }

  @Test func aNameGivenBesideSeveralMovesIsLeftBehind() throws {
    try rename(to: "Torte", in: ana)
    for place in [0, 1, 0] { try move(to: place, in: bob) }
    let cleo = bob.fork()
    try move(to: 1, in: cleo)
    try cleo.merge(other: ana)
    #expect(try leftTitle(in: cleo) == LeftTitle(title: "Torte", mover: bob.actor))
  }

  /// The name before is the one with which the item began.
  @Test func anOldNameGivenAgainBesideAMoveIsLeftBehind() throws {
    try rename(to: "Torte", in: ana)
    try bob.merge(other: ana)
    try rename(to: "Cake", in: ana)
    try move(in: bob)
    try bob.merge(other: ana)
    #expect(try leftTitle(in: bob)?.title == "Cake")
  }

  @Test func aNameThatTheMoverKnewIsNotLeftBehind() throws {
    try rename(to: "Torte", in: bob)
    try move(in: bob)
    try rename(to: "Pie", in: bob)
    try move(to: 1, in: bob)
    try move(in: bob)
    #expect(try leftTitle(in: bob) == nil)
  }

  @Test func aNameGivenToAnotherCopyIsLeftBehindUnlessTheItemHasOne() throws {
    // Both move it; whichever counts, the name that Ana gives to her copy, or to one before it, counts too.
    try move(in: bob)
    try move(in: ana)
    try rename(to: "Torte", in: ana)
    try move(to: 1, in: ana)
    let both = ana.fork()
    try both.merge(other: bob)
    let (_, cake) = try cake(in: both)
    let title = try leftTitle(in: both)?.title ?? cake.title
    #expect(title == "Torte")
    try rename(to: "Pie", in: both)
    #expect(try leftTitle(in: both) == nil)
  }
}
