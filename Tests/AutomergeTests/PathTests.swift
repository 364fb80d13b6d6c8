import Automerge
import Testing

struct PathTests {
  @Test func anObjectsPathLeadsFromTheRootToIt() throws {
    let document = Document()
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    let map = try document.insertObject(obj: list, index: 0, ty: .Map)
    let notes = try document.putObject(obj: map, key: "notes", ty: .Text)
    #expect(try document.path(obj: .ROOT) == [])
    let way = [
      PathElement(obj: .ROOT, prop: .Key("list")), PathElement(obj: list, prop: .Index(0)),
      PathElement(obj: map, prop: .Key("notes")),
    ]
    #expect(try document.path(obj: notes) == way)
    // Asking did not end the transaction.
    document.commitWith(message: "all of it")
    #expect(document.getHistory().count == 1)
    #expect(try document.path(obj: notes) == way && document.path(obj: notes).stringPath() == ".list.[0].notes")
    try document.insert(obj: list, index: 0, value: .Int(1))
    #expect(try document.path(obj: notes).stringPath() == ".list.[1].notes")
    #expect(try Document(document.save()).path(obj: notes).stringPath() == ".list.[1].notes")
    #expect(try document.lookupPath(path: document.path(obj: notes).stringPath()) == notes)
  }

  @Test func anObjectThatWasReplacedIsFoundWhereItWas() throws {
    let document = Document()
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    let old = try document.insertObject(obj: list, index: 0, ty: .Map)
    let new = try document.putObject(obj: list, index: 0, ty: .Map)
    #expect(try document.path(obj: new).stringPath() == ".list.[0]")
    #expect(try document.path(obj: old).stringPath() == ".list.[0]")
    try document.delete(obj: list, index: 0)
    #expect(try document.path(obj: new).stringPath() == ".list.[0]")
  }

  @Test func anObjectOfAnotherDocumentHasNoPath() throws {
    let other = try Document().putObject(obj: .ROOT, key: "a", ty: .Map)
    #expect(throws: DocError.unknownObject(other)) { try Document().path(obj: other) }
  }
}
