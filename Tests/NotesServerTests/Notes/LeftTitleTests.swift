import Automerge
import Foundation
import Testing

@testable import NotesServer

/// An agenda item that some people rename while others move it: the name stays.
struct LeftTitleTests {
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

  private func bring(in document: Document) throws {
    let (meeting, cake) = try cake(in: document)
    let left = try #require(try LeftTitle.find(of: cake, MoveReader(meeting)))
    try meeting.bring(left.title, from: left.source, to: cake)
    document.commitWith()
  }

  private func leftTitle(in document: Document) throws -> LeftTitle? {
    let (meeting, cake) = try cake(in: document)
    return try LeftTitle.find(of: cake, MoveReader(meeting))
  }

  @Test func aNameGivenBesideAMoveIsLeftBehind() throws {
    try rename(to: "Torte", in: ana)
    try move(in: bob)
    try bob.merge(other: ana)
    let left = try leftTitle(in: bob)
    #expect(left?.title == "Torte" && left?.mover == bob.actor)
    try rename(to: "Torte", in: bob)
    #expect(try leftTitle(in: bob) == nil)
  }

  @Test func aNameGivenBesideSeveralMovesIsLeftBehind() throws {
    try rename(to: "Torte", in: ana)
    for place in [0, 1, 0] { try move(to: place, in: bob) }
    let cleo = bob.fork()
    try move(to: 1, in: cleo)
    try cleo.merge(other: ana)
    let left = try leftTitle(in: cleo)
    #expect(left?.title == "Torte" && left?.mover == bob.actor)
  }

  @Test func oneNameAfterAnotherGivenBesideAMoveIsLeftBehind() throws {
    try move(in: bob)
    for (number, title) in ["Torte", "Pie", "Cake", "Tart"].enumerated() {
      // Ana does not know of the move yet.
      try rename(to: title, in: ana)
      try bob.merge(other: ana)
      #expect(try leftTitle(in: bob)?.title == title)
      try bring(in: bob)
      #expect(try self.cake(in: bob).1.title == title)
      #expect(try leftTitle(in: bob) == nil)
      // The name that was brought is not the moved item's own, but further moves keep it.
      if number == 1 { try move(to: 1, in: bob) }
    }
    try ana.merge(other: bob)
    #expect(try leftTitle(in: ana) == nil)
    #expect(try self.cake(in: ana).1.title == "Tart")
    // From then on, a name counts that is given by a person who knows of the move.
    try rename(to: "Tea cake", in: bob)
    #expect(try leftTitle(in: bob) == nil)
  }

  /// The other way round, whichever of the two documents' actors comes last.
  @Test(arguments: [true, false]) func aNameGivenWhileAnotherIsBroughtCounts(isBobsLast: Bool) throws {
    if (ana.actor < bob.actor) != isBobsLast { (ana.actor, bob.actor) = (bob.actor, ana.actor) }
    try move(in: bob)
    try rename(to: "Torte", in: ana)
    try ana.merge(other: bob)
    let both = ana.fork()
    both.actor = bob.actor
    // Ana knows of the move and names the moved item; the mover's process does not know of that, and brings the earlier
    // name.
    try rename(to: "Pie", in: ana)
    try bring(in: both)
    try both.merge(other: ana)
    #expect(try self.cake(in: both).1.title == "Pie")
    #expect(try leftTitle(in: both) == nil)
    try move(to: 1, in: both)
    try ana.merge(other: both)
    #expect(try self.cake(in: ana).1.title == "Pie")
    #expect(try leftTitle(in: ana) == nil)
  }

  /// The same, and the mover moves the item again before it knows.
  @Test(arguments: [true, false]) func aNameGivenWhileAnotherIsBroughtIsBroughtAsWell(isBobsLast: Bool) throws {
    if (ana.actor < bob.actor) != isBobsLast { (ana.actor, bob.actor) = (bob.actor, ana.actor) }
    try move(in: bob)
    try rename(to: "Torte", in: ana)
    try ana.merge(other: bob)
    let both = ana.fork()
    both.actor = bob.actor
    try rename(to: "Pie", in: ana)
    try bring(in: both)
    try move(to: 1, in: both)
    try both.merge(other: ana)
    #expect(try leftTitle(in: both)?.title == "Pie")
    try bring(in: both)
    #expect(try self.cake(in: both).1.title == "Pie")
    #expect(try leftTitle(in: both) == nil)
  }

  /// The earlier name is the item's first one.
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
