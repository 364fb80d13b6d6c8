import Foundation
import Testing

@testable import Automerge

/// Two copies that the same actor has changed cannot converge: merging them throws, and sync reports it.
struct EqualActorsTests {
  /// Two copies of one document, each changed by an actor that the other has too.
  private func copies() throws -> (Document, Document, ActorId) {
    let one = Document()
    try one.put(obj: .ROOT, key: "shared", value: .Int(0))
    let other = try Document(one.save())
    other.actor = one.actor
    try one.put(obj: .ROOT, key: "who", value: .String("one"))
    try other.put(obj: .ROOT, key: "who", value: .String("other"))
    return (one, other, one.actor)
  }

  private func isNamed(_ error: (any Error)?, _ actor: ActorId) -> Bool {
    switch (error as? LoadError, error as? ReceiveSyncError) {
    case (.equalActors(actor, _)?, nil), (nil, .changes(.equalActors(actor, _))?): true
    default: false
    }
  }

  @Test func mergingThemNamesTheActor() throws {
    let (one, other, actor) = try copies()
    let heads = one.heads()
    let error = #expect(throws: LoadError.self) { try one.merge(other: other) }
    #expect(isNamed(error, actor))
    #expect(error?.errorDescription?.contains(actor.hexadecimal) == true)
    #expect(one.heads() == heads && one.brokenInvariant() == nil)
    #expect(isNamed(#expect(throws: LoadError.self) { _ = try other.mergeWithPatches(other: one) }, actor))
  }

  @Test func whatElseIsInTheMessageIsTakenInAndTheErrorIsStillThrown() throws {
    let (one, other, actor) = try copies()
    let third = try Document(one.forkAt(heads: [one.getHistory()[0]]).save())
    try third.put(obj: .ROOT, key: "third", value: .Int(3))
    try other.merge(other: third)
    let changes = try other.encodeChangesSince(heads: [])
    #expect(isNamed(#expect(throws: LoadError.self) { try one.applyEncodedChanges(encoded: changes) }, actor))
    #expect(try one.get(obj: .ROOT, key: "third") == .Scalar(.Int(3)))
    // It is told once for each time that they are brought.
    try one.applyEncodedChanges(encoded: one.save())
    #expect(
      isNamed(#expect(throws: LoadError.self) { _ = try one.applyEncodedChangesWithPatches(encoded: changes) }, actor))
  }

  @Test func syncingThemNamesTheActorOnBothSides() throws {
    let (one, other, actor) = try copies()
    let third = try Document(one.forkAt(heads: [one.getHistory()[0]]).save())
    try third.put(obj: .ROOT, key: "third", value: .Int(3))
    try other.merge(other: third)
    let state = SyncState(), otherState = SyncState()
    var named: Set<Int> = []
    for _ in 0..<10 {
      for (number, from, fromState, to, toState) in [
        (0, one, state, other, otherState), (1, other, otherState, one, state),
      ] {
        guard let message = from.generateSyncMessage(state: fromState) else { continue }
        do {
          try to.receiveSyncMessage(state: toState, message: message)
        } catch {
          #expect(isNamed(error, actor))
          named.insert(number)
        }
      }
    }
    #expect(named == [0, 1])
    #expect(try one.get(obj: .ROOT, key: "third") == .Scalar(.Int(3)))
  }

  @Test func aTypedDocumentSaysItToo() throws {
    let actor = ActorId()
    var one = try TypedDocument(["a": 1], actor: actor)
    let other = try TypedDocument(["a": 2], actor: actor)
    #expect(one.actor == actor)
    #expect(isNamed(#expect(throws: LoadError.self) { try one.merge(other) }, actor))
  }
}
