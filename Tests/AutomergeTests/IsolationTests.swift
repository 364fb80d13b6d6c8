import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Editing at past heads where an object did not exist yet.
struct IsolationTests {
  private let document = Document()
  private let map: ObjId
  private let list: ObjId
  private let text: ObjId
  private let past: Set<ChangeHash>

  init() throws {
    try document.put(obj: .ROOT, key: "old", value: .Int(1))
    past = document.heads()
    map = try document.putObject(obj: .ROOT, key: "map", ty: .Map)
    try document.put(obj: map, key: "counter", value: .Counter(1))
    list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    try document.insert(obj: list, index: 0, value: .Counter(1))
    text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "hello")
    _ = document.heads()
  }

  @Test func anObjectThatDoesNotExistYetIsNotEdited() throws {
    try document.isolate(heads: past)
    let edits: [(ObjId, () throws -> Void)] = [
      (map, { try document.put(obj: map, key: "a", value: .Int(1)) }),
      (map, { _ = try document.putObject(obj: map, key: "a", ty: .Map) }),
      (map, { try document.delete(obj: map, key: "counter") }),
      (map, { try document.increment(obj: map, key: "counter", by: 1) }),
      (list, { try document.put(obj: list, index: 0, value: .Int(1)) }),
      (list, { try document.insert(obj: list, index: 0, value: .Int(1)) }),
      (list, { _ = try document.insertObject(obj: list, index: 0, ty: .Map) }),
      (list, { _ = try document.putObject(obj: list, index: 0, ty: .Map) }),
      (list, { try document.delete(obj: list, index: 0) }),
      (list, { try document.increment(obj: list, index: 0, by: 1) }),
      (list, { try document.splice(obj: list, start: 0, delete: 0, values: [.Int(1)]) }),
      (text, { try document.spliceText(obj: text, start: 0, delete: 0, value: "x") }),
      (text, { try document.spliceText(obj: text, utf8Offset: 0, deleteUTF8: 0, insert: [0x78]) }),
      (text, { try document.updateText(obj: text, value: "new") }),
      (
        text,
        { try document.mark(obj: text, start: 0, end: 0, expand: .both, name: "bold", value: .Boolean(true)) }
      ),
      (text, { _ = try document.splitBlock(obj: text, index: 0) }),
      (text, { try AutomergeText(doc: document, objId: text).update(to: "bound") }),
    ]
    for (place, (object, edit)) in edits.enumerated() {
      #expect(throws: DocError.unknownObject(object), "edit \(place)") { try edit() }
    }
    #expect(document.heads() == past)
    #expect(document.brokenInvariant() == nil)
  }

  @Test func aKeystrokeThatIsBufferedBeforeIsolationGoesToThePresent() throws {
    for offset in 5...8 { try document.spliceText(obj: text, start: UInt64(offset), delete: 0, value: "!") }
    try document.isolate(heads: past)
    #expect(throws: DocError.unknownObject(text)) {
      try document.spliceText(obj: text, start: 9, delete: 0, value: "!")
    }
    document.integrate()
    #expect(try document.text(obj: text) == "hello!!!!")
  }

  @Test func whatIsMadeWhileIsolatedIsEditedAndTakenByPeers() throws {
    try document.isolate(heads: past)
    try document.put(obj: .ROOT, key: "old", value: .Int(2))
    let made = try document.putObject(obj: .ROOT, key: "made", ty: .Text)
    try document.spliceText(obj: made, start: 0, delete: 0, value: "there")
    _ = document.heads()
    try document.updateText(obj: made, value: "there again")
    document.integrate()
    let peer = Document()
    try peer.merge(other: document)
    #expect(try peer.text(obj: made) == "there again")
    #expect(peer.heads() == document.heads() && !peer.hasWaitingChanges)
  }
}
