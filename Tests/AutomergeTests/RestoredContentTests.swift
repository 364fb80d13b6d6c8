import Foundation
import TestSupport
import Testing

@testable import Automerge

/// What is there again after loading or undoing is what was there.
struct RestoredContentTests {
  @Test func aLoadedMapHasAsManyKeysAsTheSavedOne() throws {
    let document = Document()
    for key in ["a", "b", "c"] { try document.put(obj: .ROOT, key: key, value: .String(key)) }
    try document.delete(obj: .ROOT, key: "b")
    let loaded = try Document(document.save())
    #expect(loaded.keys(obj: .ROOT) == ["a", "c"])
    #expect(loaded.length(obj: .ROOT) == 2)
    try loaded.delete(obj: .ROOT, key: "a")
    try loaded.put(obj: .ROOT, key: "b", value: .String("b"))
    #expect(loaded.length(obj: .ROOT) == 2)
  }

  /// Loading adds what came later to an element after the element itself.
  @Test func operationsAddedLaterComeToTheSameAsAllAtOnce() {
    let actor: UInt32 = 0
    func value(_ counter: UInt32, _ successors: [UInt32] = []) -> StoredOp {
      StoredOp(
        id: OpId(counter: counter, actor: actor), action: .set, value: RawValue(.Counter(Int64(counter))),
        successors: SortedOps(successors.map { OpId(counter: $0, actor: actor) }))
    }
    let increment = StoredOp(id: OpId(counter: 4, actor: actor), action: .increment, value: RawValue(.Int(10)))
    let cases = [
      [value(1), value(2)], [value(1, [2]), value(2)], [value(1, [4]), increment],
      [value(1, [2, 3]), value(2), value(3)],
    ]
    for ops in cases {
      var slot = Slot(ops: Array(ops.prefix(1)))
      slot.append(Array(ops.dropFirst()))
      #expect(slot == Slot(ops: ops))
      #expect(slot.visible().count == (ops[0].successors.count == 1 ? 1 : 2))
    }
  }

  /// Another writer's key would be lost if the map went with the change that once made it.
  @Test func aMapThatUndoingBroughtBackStaysOnceAnotherWriterHasUsedIt() throws {
    let document = try Document(actor: "0a")
    let map = try document.putObject(obj: .ROOT, key: "map", ty: .Map)
    try document.put(obj: map, key: "a", value: .Int(1))
    document.commitWith()
    try document.delete(obj: .ROOT, key: "map")
    try document.undo()
    guard case .Object(let copy, .Map)? = try document.get(obj: .ROOT, key: "map") else {
      Issue.record("the map is there again")
      return
    }
    let other = document.fork()
    try other.put(obj: copy, key: "theirs", value: .Int(2))
    try document.merge(other: other)
    while document.canUndo { try document.undo() }
    #expect(try document.get(obj: .ROOT, key: "map") == .Object(copy, .Map))
    #expect(try document.get(obj: copy, key: "theirs") == .Scalar(.Int(2)))
  }
}
