import Automerge
import AutomergeUtilities
import Foundation
import Testing

/// Programs written for automerge-swift 0.6.1 compile: every declaration of its public interface is used here as they use
/// it. What the calls do is tested elsewhere; here they have to be there, with these labels and types.
struct SourceCompatibilityTests {
  @Test func documentsAreEditedAndRead() throws {
    let doc = Document(textEncoding: .unicodeScalar, logLevel: .errorOnly)
    let root: ObjId = ObjId.ROOT
    try doc.put(obj: root, key: "key", value: .String("value"))
    let map: ObjId = try doc.putObject(obj: root, key: "map", ty: .Map)
    let list: ObjId = try doc.putObject(obj: root, key: "list", ty: .List)
    let text: ObjId = try doc.putObject(obj: root, key: "text", ty: .Text)
    try doc.insert(obj: list, index: 0, value: .Int(1))
    try doc.put(obj: list, index: 0, value: .Uint(2))
    let inner: ObjId = try doc.insertObject(obj: list, index: 1, ty: .Map)
    let replaced: ObjId = try doc.putObject(obj: list, index: 1, ty: .List)
    #expect(inner != replaced)
    try doc.put(obj: map, key: "counter", value: .Counter(1))
    try doc.increment(obj: map, key: "counter", by: 2)
    try doc.insert(obj: list, index: 2, value: .Counter(1))
    try doc.increment(obj: list, index: 2, by: -1)
    try doc.splice(obj: list, start: 3, delete: 0, values: [.F64(1.5), .Boolean(true), .Null])
    try doc.delete(obj: list, index: 5)
    try doc.put(obj: map, key: "gone", value: .Bytes(Data([1])))
    try doc.delete(obj: map, key: "gone")
    try doc.spliceText(obj: text, start: 0, delete: 0, value: "hello")
    try doc.spliceText(obj: text, start: 0, delete: 1)
    try doc.updateText(obj: text, value: "hello world")

    let value: Value? = try doc.get(obj: map, key: "counter")
    #expect(value == .Scalar(.Counter(3)))
    let element: Value? = try doc.get(obj: list, index: 2)
    #expect(element == .Scalar(.Counter(0)))
    let all: Set<Value> = try doc.getAll(obj: map, key: "counter")
    let allAt: Set<Value> = try doc.getAll(obj: list, index: 0)
    #expect(all.count == 1 && allAt == [.Scalar(.Uint(2))])
    let keys: [String] = doc.keys(obj: root)
    #expect(keys == ["key", "list", "map", "text"])
    let values: [Value] = try doc.values(obj: list)
    let entries: [(String, Value)] = try doc.mapEntries(obj: map)
    let length: UInt64 = doc.length(obj: list)
    let type: ObjType = doc.objectType(obj: text)
    let string: String = try doc.text(obj: text)
    #expect(values.count == 5 && entries.count == 1 && length == 5 && type == .Text && string == "hello world")
    doc.commitWith(message: "message", timestamp: Date())
    doc.commitWith()
    doc.commitWith(message: nil)
    #expect(root.debugDescription.isEmpty == false)
    let encodings: [TextEncoding] = [.graphemeCluster, .unicodeScalar, .utf8, .utf16]
    #expect(encodings.contains(doc.textEncoding))
  }

  @Test func documentsAreReadAsTheyWere() throws {
    let doc = Document()
    let list = try doc.putObject(obj: .ROOT, key: "list", ty: .List)
    let text = try doc.putObject(obj: .ROOT, key: "text", ty: .Text)
    try doc.spliceText(obj: text, start: 0, delete: 0, value: "one")
    try doc.insert(obj: list, index: 0, value: .Int(1))
    let heads: Set<ChangeHash> = doc.heads()
    try doc.spliceText(obj: text, start: 0, delete: 3, value: "another")
    try doc.put(obj: list, index: 0, value: .Int(2))
    #expect(try doc.getAt(obj: .ROOT, key: "list", heads: heads) == .Object(list, .List))
    #expect(try doc.getAt(obj: list, index: 0, heads: heads) == .Scalar(.Int(1)))
    #expect(try doc.getAllAt(obj: .ROOT, key: "list", heads: heads).count == 1)
    #expect(try doc.getAllAt(obj: list, index: 0, heads: heads) == [.Scalar(.Int(1))])
    #expect(doc.keysAt(obj: .ROOT, heads: heads) == ["list", "text"])
    #expect(try doc.valuesAt(obj: list, heads: heads) == [.Scalar(.Int(1))])
    #expect(try doc.mapEntriesAt(obj: .ROOT, heads: heads).count == 2)
    #expect(doc.lengthAt(obj: text, heads: heads) == 3)
    #expect(try doc.textAt(obj: text, heads: heads) == "one")
  }

  @Test func cursorsAndMarksMoveWithTheText() throws {
    let doc = Document()
    let text = try doc.putObject(obj: .ROOT, key: "text", ty: .Text)
    try doc.spliceText(obj: text, start: 0, delete: 0, value: "hello world")
    let heads = doc.heads()
    let cursor: Cursor = try doc.cursor(obj: text, position: 6)
    let past: Cursor = try doc.cursor(obj: text, position: 6, heads: heads)
    #expect(cursor == past && !cursor.description.isEmpty && !cursor.bytes.isEmpty)
    try doc.spliceText(obj: text, start: 0, delete: 0, value: "> ")
    #expect(try doc.position(obj: text, cursor: cursor) == 8)
    #expect(try doc.position(obj: text, cursor: cursor, heads: heads) == 6)

    try doc.mark(obj: text, start: 2, end: 7, expand: .both, name: "bold", value: .Boolean(true))
    let marks: [Mark] = try doc.marks(obj: text)
    #expect(marks.first?.start == 2 && marks.first?.end == 7 && marks.first?.name == "bold")
    let after = doc.heads()
    #expect(try doc.marksAt(obj: text, heads: after) == marks)
    #expect(try doc.marksAt(obj: text, position: .index(3)).count == 1)
    #expect(try doc.marksAt(obj: text, position: .cursor(cursor), heads: after).isEmpty)
    let modes: [ExpandMark] = [.before, .after, .both, .none]
    #expect(modes.count == 4)
  }

  @Test func documentsAreSavedForkedAndMerged() throws {
    let doc = Document()
    doc.actor = ActorId(uuid: UUID())
    try doc.put(obj: .ROOT, key: "key", value: .Timestamp(Date(timeIntervalSince1970: 1)))
    let saved: Data = doc.save()
    let copy = try Document(saved, logLevel: .errorOnly)
    let fork: Document = doc.fork()
    let heads = doc.heads()
    let past: Document = try doc.forkAt(heads: heads)
    try fork.put(obj: .ROOT, key: "key", value: .Int(2))
    let patches: [Patch] = try doc.mergeWithPatches(other: fork)
    try copy.merge(other: doc)
    #expect(patches.count == 1 && past.heads() == heads && copy.heads() == doc.heads())
    let history: [ChangeHash] = doc.getHistory()
    let change: Change = try #require(doc.change(hash: history[0]))
    #expect(change.actorId == doc.actor && change.deps.isEmpty && change.message == nil && !change.bytes.isEmpty)
    #expect(change.hash == history[0] && change.timestamp <= Date())
    try fork.put(obj: .ROOT, key: "key", value: .Int(3))
    let new: Data = fork.encodeNewChanges()
    let since: Data = try fork.encodeChangesSince(heads: doc.heads())
    try doc.applyEncodedChanges(encoded: new)
    let applied: [Patch] = try copy.applyEncodedChangesWithPatches(encoded: since)
    #expect(applied.count == 1)
    let raw: Data = doc.heads().raw()
    #expect(raw.heads() == doc.heads())
    let differences: [[Patch]] = [
      doc.difference(from: heads, to: doc.heads()), doc.difference(since: heads), doc.difference(to: heads),
    ]
    #expect(differences.allSatisfy { $0.count == 1 })
    let path: [PathElement] = try doc.path(obj: .ROOT)
    #expect(path.isEmpty && path.stringPath() == ".")
    #expect(try doc.lookupPath(path: "key") == nil)
  }

  @Test func documentsAreSynced() throws {
    let doc = Document(), other = Document()
    try doc.put(obj: .ROOT, key: "key", value: .Int(1))
    let state = SyncState(), otherState = try SyncState(bytes: SyncState().encode())
    #expect(otherState.theirHeads?.isEmpty != false)
    while true {
      let message: Data? = doc.generateSyncMessage(state: state)
      if let message { try other.receiveSyncMessage(state: otherState, message: message) }
      let answer = other.generateSyncMessage(state: otherState)
      if let answer { let _: [Patch] = try doc.receiveSyncMessageWithPatches(state: state, message: answer) }
      if message == nil && answer == nil { break }
    }
    #expect(doc.heads() == other.heads() && state.theirHeads == doc.heads())
    state.reset()
  }

  @Test func patchesAreTakenApart() throws {
    let doc = Document()
    let before = doc.heads()
    try doc.put(obj: .ROOT, key: "key", value: .Int(1))
    for patch in doc.difference(since: before) {
      switch patch.action {
      case .Put(let object, let prop, let value):
        #expect(object == .ROOT && prop == .Key("key") && value == .Scalar(.Int(1)) && patch.path.isEmpty)
      case .Insert(obj: _, index: _, values: _), .SpliceText(obj: _, index: _, value: _, marks: _), .Increment(_, _, _),
        .DeleteMap(_, _), .Marks(_, _), .Conflict(_, _):
        Issue.record("\(patch)")
      case .DeleteSeq(let deletion): Issue.record("\(deletion.obj) \(deletion.index) \(deletion.length)")
      }
    }
    #expect(PathElement(obj: .ROOT, prop: .Index(1)).prop == .Index(1))
  }

  @Test func modelsAreBound() throws {
    struct Model: Codable, Equatable, Hashable {
      var text = AutomergeText("hello"), counter = Counter(1)
    }
    let doc = Document()
    var encoder = AutomergeEncoder(
      doc: doc, strategy: .createWhenNeeded, cautiousWrite: false, reportingLoglevel: .errorOnly)
    encoder.userInfo = [:]
    try encoder.encode(Model())
    try encoder.encode(Optional(Model()))
    try encoder.encode(Model(), at: [AnyCodingKey("model")])
    let decoder = AutomergeDecoder(doc: doc)
    let model: Model = try decoder.decode(Model.self)
    #expect(try decoder.decode(Model.self, from: [AnyCodingKey("model")]) == model)
    let text = try AutomergeText("x", doc: doc, path: "other")
    let bound = AutomergeText()
    try bound.bind(doc: doc, path: "other")
    let object = try #require(try doc.lookupPath(path: "other"))
    let same = try AutomergeText(doc: doc, objId: object)
    try AutomergeText().bind(doc: doc, id: object)
    #expect(text.isBound && bound.value == "x" && same == text)
    let counter = try Counter(doc: doc, objId: .ROOT, key: AnyCodingKey("counter"))
    let second = try Counter(doc: doc, path: "counter")
    try Counter().bind(doc: doc, path: "counter")
    second.increment(by: 2)
    #expect(counter.value == 3 && counter.isBound)
    let strategies: [SchemaStrategy] = [.createWhenNeeded, .override, .readonly]
    #expect(strategies.count == 3)
  }

  @Test func keysAndErrorsAreNamed() throws {
    let keys = [AnyCodingKey("a"), AnyCodingKey(1), AnyCodingKey(Prop.Key("b")), AnyCodingKey.ROOT]
    #expect(try AnyCodingKey.parsePath(keys.dropLast().map { $0 }.stringPath()).count == 3)
    let errors: [any LocalizedError] = [
      BindingError.Unbound, PathParseError.EmptyListIndex("[]"), CodingKeyLookupError.SchemaMissing("nothing"),
    ]
    #expect(errors.allSatisfy { $0.errorDescription != nil })
    #expect(throws: LoadError.self) { try Document(Data([1])) }
    #expect(throws: DocError.self) { try Document().put(obj: .ROOT, index: 0, value: .Null) }
    #expect(throws: DecodeSyncStateError.self) { try SyncState(bytes: Data([1])) }
    #expect(throws: ReceiveSyncError.self) {
      try Document().receiveSyncMessage(state: SyncState(), message: Data([1]))
    }
    #expect(ScalarValue.Unknown(typeCode: 10, data: Data()).toScalarValue() != .Null)
  }

  @Test func utilitiesLookAtDocuments() throws {
    let doc = Document()
    #expect(try doc.isEmpty())
    try doc.put(obj: .ROOT, key: "key", value: .Int(1))
    let schema: AutomergeValue = try doc.schema()
    #expect(schema == .dict(["key": .scalar(.Int(1))]))
    #expect(try doc.parseToSchema(doc, from: .ROOT) == schema && doc.equivalentContents(doc.fork()))
    try doc.walk()
  }
}
