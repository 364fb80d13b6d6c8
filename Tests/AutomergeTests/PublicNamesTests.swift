import Automerge
import Foundation
import Testing

/// What a program written against automerge-swift names: it compiles here as it stands, with the same types.
struct PublicNamesTests {
  @Test func editingHasTheSameSignatures() throws {
    let document = Document(textEncoding: .unicodeScalar, logLevel: .errorOnly)
    let actor: ActorId = document.actor
    document.actor = try #require(ActorId(data: actor.data))
    let (_, _): (ActorId, ActorId) = (ActorId(), ActorId(uuid: UUID()))
    let _: TextEncoding = document.textEncoding
    try document.put(obj: ObjId.ROOT, key: "key", value: .String("value"))
    let list: ObjId = try document.putObject(obj: ObjId.ROOT, key: "list", ty: .List)
    let text: ObjId = try document.putObject(obj: ObjId.ROOT, key: "text", ty: .Text)
    try document.insert(obj: list, index: 0, value: .Counter(1))
    let inner: ObjId = try document.insertObject(obj: list, index: 1, ty: .Map)
    try document.put(obj: list, index: 1, value: .Uint(1))
    _ = try document.putObject(obj: list, index: 1, ty: .List) as ObjId
    try document.put(obj: ObjId.ROOT, key: "counter", value: .Counter(1))
    try document.increment(obj: ObjId.ROOT, key: "counter", by: Int64(2))
    try document.increment(obj: list, index: 0, by: Int64(2))
    try document.delete(obj: list, index: 1)
    try document.delete(obj: ObjId.ROOT, key: "key")
    try document.splice(obj: list, start: UInt64(0), delete: Int64(0), values: [.Null, .Boolean(true)])
    try document.spliceText(obj: text, start: UInt64(0), delete: Int64(0), value: "hello")
    try document.spliceText(obj: text, start: 0, delete: 1)
    try document.updateText(obj: text, value: "hallo")
    try document.mark(obj: text, start: 0, end: 2, expand: .both, name: "bold", value: .Boolean(true))
    document.commitWith(message: "message", timestamp: Date())
    document.commitWith()
    #expect(document.objectType(obj: inner) == .Map)
  }

  @Test func readingHasTheSameSignatures() throws {
    let document = Document(), heads: Set<ChangeHash> = document.heads(), root = ObjId.ROOT
    let list = try document.putObject(obj: root, key: "list", ty: .List)
    let text = try document.putObject(obj: root, key: "text", ty: .Text)
    let one: [Value?] = [
      try document.get(obj: root, key: "list"), try document.get(obj: list, index: 0),
      try document.getAt(obj: root, key: "list", heads: heads), try document.getAt(obj: list, index: 0, heads: heads),
    ]
    let all: [Set<Value>] = [
      try document.getAll(obj: root, key: "list"), try document.getAll(obj: list, index: 0),
      try document.getAllAt(obj: root, key: "list", heads: heads),
      try document.getAllAt(obj: list, index: 0, heads: heads),
    ]
    let keys: [[String]] = [document.keys(obj: root), document.keysAt(obj: root, heads: heads)]
    let values: [[Value]] = [try document.values(obj: root), try document.valuesAt(obj: root, heads: heads)]
    let entries: [[(String, Value)]] = [
      try document.mapEntries(obj: root), try document.mapEntriesAt(obj: root, heads: heads),
    ]
    let lengths: [UInt64] = [document.length(obj: root), document.lengthAt(obj: root, heads: heads)]
    let type: ObjType = document.objectType(obj: list)
    let texts: [String] = [try document.text(obj: text), try document.textAt(obj: text, heads: heads)]
    let cursors: [Cursor] = [
      try document.cursor(obj: text, position: UInt64(0)), try document.cursor(obj: text, position: 0, heads: heads),
    ]
    let positions: [UInt64] = [
      try document.position(obj: text, cursor: cursors[0]),
      try document.position(obj: text, cursor: cursors[0], heads: heads),
    ]
    let marks: [[Mark]] = [
      try document.marks(obj: text), try document.marksAt(obj: text, heads: heads),
      try document.marksAt(obj: text, position: .index(0)),
      try document.marksAt(obj: text, position: .cursor(cursors[0]), heads: heads),
    ]
    let path: [PathElement] = try document.path(obj: list)
    let object: ObjId? = try document.lookupPath(path: ".list")
    let _: (Data, String) = (cursors[0].bytes, cursors[0].description)
    #expect(one[0] != nil && all[0].count == 1 && keys[0].count == 2 && values[0].count == 2 && entries[0].count == 2)
    #expect(lengths == [2, 0] && type == .List && texts == ["", ""] && positions[0] == 0 && marks[0].isEmpty)
    #expect(path.map(\.prop) == [.Key("list")] && path[0].obj == root && object == list)
  }

  @Test func historyAndSyncHaveTheSameSignatures() throws {
    let document = Document(), fork: Document = document.fork()
    try fork.put(obj: .ROOT, key: "a", value: .Int(1))
    let merged: [Patch] = try document.mergeWithPatches(other: fork)
    try document.merge(other: fork)
    let heads: Set<ChangeHash> = document.heads(), history: [ChangeHash] = document.getHistory()
    let change: Change = try #require(document.change(hash: history[0]))
    let _: (ActorId, String?, [ChangeHash], Date, Data, ChangeHash) = (
      change.actorId, change.message, change.deps, change.timestamp, change.bytes, change.hash
    )
    let differences: [[Patch]] = [
      document.difference(from: [], to: heads), document.difference(since: []), document.difference(to: heads),
    ]
    let _: Document = try document.forkAt(heads: heads)
    let raw: Data = heads.raw(), back: Set<ChangeHash>? = raw.heads()
    let saved: Data = document.save(), new: Data = document.encodeNewChanges()
    let since: Data = try document.encodeChangesSince(heads: [])
    let loaded = try Document(saved, logLevel: .debug)
    try loaded.applyEncodedChanges(encoded: since)
    let applied: [Patch] = try Document().applyEncodedChangesWithPatches(encoded: since)

    let state = SyncState(), restored = try SyncState(bytes: state.encode()), empty = Document()
    restored.reset()
    let message: Data = try #require(document.generateSyncMessage(state: state))
    try empty.receiveSyncMessage(state: restored, message: message)
    let patches: [Patch] = try empty.receiveSyncMessageWithPatches(state: SyncState(), message: message)
    let theirs: Set<ChangeHash>? = restored.theirHeads
    #expect(merged.count == 1 && differences[0].count == 1 && back == heads && new.isEmpty && applied.count == 1)
    #expect(patches.isEmpty && theirs == heads)
  }

  @Test func valuesAndPatchesHaveTheSameCases() throws {
    let scalars: [ScalarValue] = [
      .Bytes(Data()), .String(""), .Uint(0), .Int(0), .F64(0), .Counter(0), .Timestamp(Date()), .Boolean(true),
      .Unknown(typeCode: 10, data: Data()), .Null,
    ]
    let values: [Value] = [.Scalar(scalars[0]), .Object(.ROOT, .Map)]
    let root = ObjId.ROOT
    let actions: [PatchAction] = [
      .Put(root, .Key("a"), values[0]), .Insert(obj: root, index: 0, values: values),
      .SpliceText(obj: root, index: 0, value: "", marks: [:]), .Increment(root, .Index(0), 1), .DeleteMap(root, "a"),
      .DeleteSeq(DeleteSeq(obj: root, index: 0, length: 1)),
      .Marks(root, [Mark(start: 0, end: 1, name: "a", value: .Null)]), .Conflict(root, .Key("a")),
    ]
    for action in actions {
      switch Patch(action: action, path: []).action {
      case .Put, .Insert, .SpliceText, .Increment, .DeleteMap, .DeleteSeq, .Marks, .Conflict: break
      }
    }
    let expand: [ExpandMark] = [.before, .after, .both, .none]
    let encodings: [TextEncoding] = [.graphemeCluster, .unicodeScalar, .utf8, .utf16]
    let verbosity: [LogVerbosity] = [.errorOnly, .debug, .tracing]
    let errors: [any LocalizedError.Type] = [
      DocError.self, DecodeSyncStateError.self, LoadError.self, ReceiveSyncError.self, BindingError.self,
      PathParseError.self, CodingKeyLookupError.self,
    ]
    #expect(scalars.count == 10 && expand.count == 4 && encodings.count == 4 && verbosity.count == 3)
    #expect(errors.count == 7 && root.debugDescription.isEmpty == false)
    #expect(try Bool.fromScalarValue(.Boolean(true)).get() && true.toScalarValue() == .Boolean(true))
  }

  @Test func modelsHaveTheSameSignatures() throws {
    struct Model: Codable, Equatable {
      var name: String, votes: Counter, body: AutomergeText
    }
    let document = Document()
    let model = Model(name: "a", votes: Counter(1), body: AutomergeText("text"))
    var encoder = AutomergeEncoder(
      doc: document, strategy: SchemaStrategy.createWhenNeeded, cautiousWrite: false, reportingLoglevel: .errorOnly)
    encoder.userInfo = [:]
    try encoder.encode(model)
    try encoder.encode(model as Model?)
    try encoder.encode("b", at: [AnyCodingKey("name")])
    let decoder = AutomergeDecoder(doc: document)
    #expect(try decoder.decode(Model.self).name == "b")
    #expect(try decoder.decode(String.self, from: [AnyCodingKey("name")]) == "b")
    let text = try AutomergeText("x", doc: document, path: "other"), counter = try Counter(doc: document, path: "votes")
    try AutomergeText().bind(doc: document, path: "body")
    try Counter().bind(doc: document, path: "votes")
    text.value = "y"
    counter.value = 5
    counter.increment(by: 1)
    #expect(text.isBound && counter.isBound && counter.value == 6)
    let keys: [AnyCodingKey] = try AnyCodingKey.parsePath("notes.[1].title")
    #expect(keys == [AnyCodingKey("notes"), AnyCodingKey(UInt64(1)), AnyCodingKey("title")])
    #expect(AnyCodingKey.ROOT == AnyCodingKey("") && AnyCodingKey(Prop.Key("a")) == AnyCodingKey("a"))
    let strategies: [SchemaStrategy] = [.createWhenNeeded, .override, .readonly]
    #expect(strategies.count == 3 && keys.stringPath() == ".notes.[1].title")
  }
}
