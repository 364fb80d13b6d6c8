import Foundation
import Testing

@testable import Automerge

/// A person who writes under a new actor after each start, and wants to undo what was written before.
struct FormerActorTests {
  private let document = Document()
  private let text: ObjId

  init() throws {
    text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    document.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
  }

  private func write(_ value: String, at start: UInt64) throws -> ChangeHash {
    try document.spliceText(obj: text, start: start, delete: 0, value: value)
    document.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 1))
    return try #require(document.lastChange(by: document.actor))
  }

  @Test func changesAreFoundByAuthorAndNumber() throws {
    let former = document.actor
    let changes = [try write("a", at: 0), try write("b", at: 1), try write("c", at: 2)]
    document.actor = ActorId()
    let later = try write("d", at: 3)
    let place = try #require(document.authorship(of: changes[1]))
    #expect(place.actor == former && place.number == 3)
    #expect(document.authorship(of: later)?.number == 1)
    #expect(document.changes(by: former, 2...4) == changes)
    #expect(document.changes(by: former, 4...90) == [changes[2]])
    #expect(document.changes(by: former, 5...9) == [])
    #expect(document.changes(by: ActorId(), 1...9) == [])
    let unknown = try #require(ChangeHash(bytes: [UInt8](repeating: 1, count: 32)))
    #expect(document.authorship(of: unknown) == nil)
  }

  @Test func changesOfAFormerActorAreTakenBackIfItIsNamed() throws {
    let former = document.actor
    let first = try write("milk", at: 0)
    document.actor = ActorId()
    _ = try write(" and tea", at: 4)
    #expect(try document.revert([first]) == nil)
    #expect(try document.text(obj: text) == "milk and tea")
    let undone = try #require(try document.revert([first], alsoOf: [former]))
    #expect(try document.text(obj: text) == " and tea")
    document.actor = ActorId()
    let author = try #require(document.authorship(of: undone)).actor
    #expect(try document.revert([undone], alsoOf: [author]) != nil)
    #expect(try document.text(obj: text) == "milk and tea")
  }
}
