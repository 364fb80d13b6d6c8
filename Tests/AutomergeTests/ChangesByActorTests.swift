import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Who made which change, and in whose name the next one is made.
struct ChangesByActorTests {
  @Test func anActorsChangesAreCountedAndFoundFromTheVeryFirstOn() throws {
    let document = try Document(actor: "aa")
    for number in 1...3 as ClosedRange<Int64> {
      try document.put(obj: .ROOT, key: "number", value: .Int(number))
      document.commitWith()
    }
    let history = document.getHistory(), stranger = ActorId()
    #expect(document.changeCount(by: document.actor) == 3)
    #expect(document.changes(by: document.actor, 1...3) == history)
    #expect(document.changes(by: document.actor, 1...1) == [history[0]])
    #expect(document.changes(by: document.actor, 0...9) == history)
    #expect(document.changeCount(by: stranger) == 0)
    #expect(document.changes(by: stranger, 1...3) == [])
    #expect(document.lastChange(by: stranger) == nil)
  }

  /// An actor's changes form a chain, so a change without the actor's first one is made in another name.
  @Test func aStateWithoutAnActorsOnlyChangeIsContinuedInAnotherName() throws {
    let document = try Document(actor: "aa"), other = try Document(actor: "bb")
    try document.put(obj: .ROOT, key: "own", value: .Int(1))
    document.commitWith()
    try other.put(obj: .ROOT, key: "theirs", value: .Int(2))
    other.commitWith()
    try document.merge(other: other)
    try document.isolate(heads: other.heads())
    try document.put(obj: .ROOT, key: "later", value: .Int(3))
    document.commitWith()
    let hash = try #require(document.getHistory().last), change = try #require(document.change(hash: hash))
    #expect(Set(change.deps) == other.heads())
    #expect(change.actorId != document.actor && change.actorId != other.actor)
    #expect(document.keys(obj: .ROOT) == ["later", "theirs"])
    document.integrate()
    #expect(document.keys(obj: .ROOT) == ["later", "own", "theirs"])
    #expect(document.changeCount(by: document.actor) == 1)
  }

  @Test func anErrorNamesAChangeByItsFirstEightDigits() throws {
    let document = Document()
    document.commitEmpty()
    let hash = try #require(document.heads().first), digits = hash.description.prefix(8)
    #expect(DocError.unknownChange(hash).errorDescription == "the document has no change \(digits)")
    #expect(LoadError.notReproducible(hash).sentence == "change \(digits) is not written in the canonical way")
  }
}
