import Foundation
import TestSupport
import Testing

@testable import Automerge

struct DocumentHistoryTests {
  /// A document of three changes, and the heads after each.
  private func document() throws -> (Document, [Set<ChangeHash>]) {
    let document = Document(), list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    var heads: [Set<ChangeHash>] = []
    for index in 0..<3 as Range<UInt64> {
      try document.insert(obj: list, index: index, value: .Uint(index))
      document.commitWith(message: "change \(index)", timestamp: Date(timeIntervalSince1970: 1000 + Double(index)))
      heads.append(document.heads())
    }
    return (document, heads)
  }

  @Test func aForkOfThePastHasItsChangesOnly() throws {
    let (document, heads) = try document()
    let fork = try document.forkAt(heads: heads[1])
    #expect(fork.heads() == heads[1])
    #expect(fork.actor != document.actor)
    guard case .Object(let list, .List)? = try fork.get(obj: .ROOT, key: "list") else { throw Missing() }
    #expect(try fork.values(obj: list) == [.Scalar(.Uint(0)), .Scalar(.Uint(1))])
    try fork.insert(obj: list, index: 2, value: .String("fork"))
    try document.merge(other: fork)
    #expect(document.length(obj: list) == 4)
    #expect(document.brokenInvariant() == nil && fork.brokenInvariant() == nil)
    #expect(try document.forkAt(heads: []).getHistory().isEmpty)
  }

  @Test func aForkOfUnknownChangesIsRefused() throws {
    let (document, _) = try document(), (other, heads) = try self.document()
    let unknown = try require(heads[2].first)
    #expect(throws: DocError.unknownChange(unknown)) { try document.forkAt(heads: heads[2]) }
    #expect(document.unknown(heads[2]) == heads[2])
    #expect(other.unknown(heads[2]).isEmpty)
  }

  @Test func changesSayWhoMadeThemAndWhen() throws {
    let (document, heads) = try document()
    let change = try require(document.change(hash: require(heads[1].first)))
    #expect(change.actorId == document.actor && change.message == "change 1")
    #expect(change.timestamp == Date(timeIntervalSince1970: 1001))
    #expect(Set(change.deps) == heads[0] && [change.hash] == heads[1])
    let copy = try Document(document.encodeChangesSince(heads: []))
    #expect(copy.change(hash: change.hash) == change)
    let partial = try document.forkAt(heads: heads[0])
    try partial.applyEncodedChanges(encoded: change.bytes)
    #expect(partial.heads() == heads[1])
    #expect(partial.change(hash: try require(heads[2].first)) == nil)
  }

  @Test func changesSinceAStateAreThoseThatMakeTheDifference() throws {
    let (document, heads) = try document()
    #expect(document.changes(since: heads[0]).map(\.message) == ["change 1", "change 2"])
    #expect(document.changes(since: heads[2]).isEmpty)
    #expect(document.changes(since: []).map(\.hash) == document.getHistory())
    try document.put(obj: .ROOT, key: "pending", value: .Null)
    #expect(document.changes(since: heads[2]).count == 1)
  }

  @Test func headsStayUntilSomethingIsChanged() throws {
    let (document, heads) = try document()
    document.commitWith(message: "nothing")
    #expect(document.heads() == heads[2] && document.getHistory().count == 3)
    let fork = document.fork()
    try fork.put(obj: .ROOT, key: "k", value: .Int(1))
    try document.put(obj: .ROOT, key: "k", value: .Int(2))
    try document.merge(other: fork)
    #expect(document.heads().count == 2)
    document.commitWith()
    try document.put(obj: .ROOT, key: "k", value: .Int(3))
    #expect(document.heads().count == 1 && document.getHistory().count == 6)
  }

  @Test func inIsolationOnlyThePastShowsUntilIntegration() throws {
    let (document, heads) = try document()
    guard case .Object(let list, .List)? = try document.get(obj: .ROOT, key: "list") else { throw Missing() }
    try document.isolate(heads: heads[0])
    #expect(document.heads() == heads[0] && document.length(obj: list) == 1)
    try document.put(obj: list, index: 0, value: .String("isolated"))
    document.commitWith()
    let isolated = document.heads()
    #expect(isolated.count == 1 && isolated != heads[0])
    let change = try require(document.change(hash: require(isolated.first)))
    #expect(Set(change.deps) == heads[0])
    // The actor has later changes, so another one, named after it, writes.
    #expect(change.actorId.bytes == [0x13, 0xb2, 0x23, 0x09, 1] + document.actor.bytes)
    try document.insert(obj: list, index: 1, value: .Null)
    document.commitWith()
    #expect(document.change(hash: try require(document.heads().first))?.actorId == change.actorId)
    document.integrate()
    #expect(document.heads().count == 2 && document.length(obj: list) == 4)
    #expect(try document.get(obj: list, index: 0) == .Scalar(.String("isolated")))
  }

  @Test func unknownHeadsCannotBeGoneBackTo() throws {
    let (document, heads) = try document(), unknown = try require(try self.document().1[2].first)
    #expect(throws: DocError.unknownChange(unknown)) { try document.isolate(heads: [unknown]) }
    #expect(document.heads() == heads[2])
  }

  @Test(arguments: [0, 1, 127, 128])
  func actorsOfAnyLengthWriteWhatCanBeRead(length: Int) throws {
    let document = Document(), other = Document()
    document.actor = try require(ActorId(data: Data(repeating: 7, count: length)))
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "one")
    document.commitWith()
    let heads = document.heads()
    try document.spliceText(obj: text, start: 3, delete: 0, value: " two")
    document.commitWith()
    let cursor = try document.cursor(obj: text, position: 1)
    #expect(try document.position(obj: text, cursor: Cursor(string: cursor.string())) == 1)
    try document.isolate(heads: heads)
    try document.spliceText(obj: text, start: 3, delete: 0, value: " and")
    document.integrate()
    #expect(try Document(document.save()).heads() == document.heads())
    try other.applyEncodedChanges(encoded: document.encodeChangesSince(heads: []))
    #expect(other.heads() == document.heads())
    #expect(try other.text(obj: text) == document.text(obj: text))
    #expect(ActorId(data: Data(repeating: 7, count: 129)) == nil)
  }
}
