import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Tables of operations and of changes that are not as a writer makes them, and unusual ones that are.
struct FormatTablesTests {
  private static let author = ActorId(bytes: [0xaa])

  private func change(startOp: UInt32 = 1, _ columns: [(ColumnSpec, [UInt8])]) -> Chunk {
    var body = ByteWriter()
    body.hashes([])
    body.actor(Self.author)
    body.uleb(1)
    body.uleb(UInt64(startOp))
    body.sleb(0)
    body.string("")
    body.uleb(0)
    body.raw(list(columns) + columns.flatMap(\.1))
    return Chunk(kind: .change, body: body.bytes[...], hash: Chunk.hash(.change, body: body.bytes))
  }

  private func list(_ columns: [(ColumnSpec, [UInt8])]) -> [UInt8] {
    var list = ByteWriter()
    list.uleb(columns.count)
    for (spec, bytes) in columns {
      list.uleb(UInt64(spec.rawValue))
      list.uleb(bytes.count)
    }
    return list.bytes
  }

  /// A document of one actor, without heads.
  private func document(changes: [(ColumnSpec, [UInt8])], ops: [(ColumnSpec, [UInt8])] = []) -> Chunk {
    var body = ByteWriter()
    body.uleb(1)
    body.actor(Self.author)
    body.hashes([])
    body.raw(list(changes) + list(ops))
    for (_, bytes) in changes + ops { body.raw(bytes) }
    return Chunk(kind: .document, body: body.bytes[...], hash: Chunk.hash(.document, body: body.bytes))
  }

  private func numbers(_ rows: UInt64..., times: Int = 1) -> [UInt8] {
    var encoder = RunLengthEncoder<UInt64>()
    for row in rows { encoder.append(row, count: times) }
    return encoder.finish()
  }

  private func deltas(_ rows: Int64...) -> [UInt8] {
    var encoder = DeltaEncoder()
    for row in rows { encoder.append(row) }
    return encoder.finish()
  }

  private func strings(_ rows: String..., times: Int = 1) -> [UInt8] {
    var encoder = RunLengthEncoder<String>()
    for row in rows { encoder.append(row, count: times) }
    return encoder.finish()
  }

  /// The columns of operations that set key `k` of the root to null.
  private func nulls(_ count: Int) -> [(ColumnSpec, [UInt8])] {
    var inserts = BooleanEncoder()
    inserts.append(false, count: count)
    return [
      (ColumnSpec.Op.keyString, strings("k", times: count)), (ColumnSpec.Op.insert, inserts.finish()),
      (ColumnSpec.Op.action, numbers(1, times: count)), (ColumnSpec.Op.valueMetadata, numbers(0, times: count)),
      (ColumnSpec.Op.predecessorCount, numbers(0, times: count)),
    ]
  }

  // MARK: Operations of a change

  /// A change is hashed as it is written, so its columns are never deflated one by one.
  @Test func aChangeWithADeflatedColumnIsRefusedBeforeItIsInflated() throws {
    let value = [UInt8](repeating: 120, count: 300)
    var columns = nulls(1)
    columns[3].1 = numbers(300 << 4 | UInt64(RawValue.Code.string))
    columns.insert((ColumnSpec.Op.valueRaw, value), at: 4)
    #expect(try ChangeDecoder.decode(change(columns)).opCount == 1)
    columns[4] = (ColumnSpec.Op.valueRaw.deflated, Deflate.deflate(value[...]))
    #expect(throws: LoadError.format(.deflatedColumn(0x5f))) { try ChangeDecoder.decode(change(columns)) }
  }

  /// The counter after an operation has to fit too.
  @Test func theGreatestCounterIsNeverUsed() throws {
    let last = try ChangeDecoder.decode(change(startOp: .max - 2, nulls(2)))
    #expect(last.opCount == 2 && last.maxOp == .max - 1)
    for (startOp, count) in [(UInt32.max - 2, 3), (.max, 1)] {
      #expect(throws: LoadError.format(.valueOutOfRange(at: 0))) {
        try ChangeDecoder.decode(change(startOp: startOp, nulls(count)))
      }
    }
  }

  /// So a few bytes cannot claim millions of operations.
  @Test func aChangeHasAtMostSomeMoreOperationsThanBytes() throws {
    let chunk = change(nulls(70_000)), limit = FormatLimits.denseOpsOfPeer + chunk.body.count
    #expect(limit < 70_000)
    #expect(throws: LoadError.format(.tooMany(limit: limit, at: 0))) {
      try ChangeDecoder.decode(chunk, denseOps: FormatLimits.denseOpsOfPeer)
    }
    #expect(try ChangeDecoder.decode(chunk).opCount == 70_000)
  }

  /// It would be left out when the change is written again, which would then have another hash.
  @Test func aChangeThatListsAnActorOfNoOperationIsRefused() throws {
    for (named, isGood) in [(UInt32(1), true), (0, false)] {
      let header = ChangeHeader(deps: [], actor: Self.author, seq: 1, startOp: 9, time: 0, message: nil)
      let run = OpRun.insertion(
        object: OpId(counter: 1, actor: 0), behind: OpId(counter: 5, actor: named), count: 3, text: 0, byteCount: 3)
      let actors = [Self.author, ActorId(bytes: [0xbb])]
      var encoder = SingleRunEncoder()
      encoder.write(DecodedChange(Chunk.hash(.change, body: []), header, actors, run: run, text: Array("abc".utf8)))
      let body = Array(encoder.body)
      let chunk = Chunk(kind: .change, body: body[...], hash: Chunk.hash(.change, body: body))
      if isGood {
        #expect(try ChangeDecoder.decode(chunk).opCount == 3)
      } else {
        #expect(throws: LoadError.notReproducible(chunk.hash)) { try ChangeDecoder.decode(chunk) }
      }
    }
  }

  /// Their own ids go on as the elements before them do, but those are another actor's.
  @Test func lettersBehindElementsOfAnotherActorAreNotOneStretchOfTyping() throws {
    let runs = (0..<3).map { place in
      OpRun.insertion(
        object: OpId(counter: 1, actor: 1), behind: OpId(counter: UInt32(9 + place), actor: 1), count: 1, text: place,
        byteCount: 1)
    }
    let source = Letters(runs: runs, text: Array("abc".utf8), actorList: [Self.author, ActorId(bytes: [0xbb])])
    let header = ChangeHeader(deps: [], actor: Self.author, seq: 1, startOp: 10, time: 0, message: nil)
    let body = ChangeEncoder.body(header, author: 0, runs: runs, of: source)
    let chunk = Chunk(kind: .change, body: body[...], hash: Chunk.hash(.change, body: body))
    #expect(try ChangeDecoder.decode(chunk).runs.map(\.target) == runs.map(\.target))
  }

  // MARK: Operations of a document

  /// A document whose one change sets keys of the root to null.
  private func puts(_ keys: [String], firstCounter: Int64 = 1) -> Chunk {
    var table = OpColumnWriter(.document)
    for (place, key) in keys.enumerated() {
      let put = OtherOp(
        object: .zero, key: .map(MapKey(key)), isInsert: false, action: .set, value: .null, predecessors: [])
      table.append(put, object: nil, element: nil)
      table.appendIds(OpColumnWriter.Id(actor: 0, counter: firstCounter + Int64(place)), count: 1)
      table.appendGroup([])
    }
    var ops = ColumnWriter(), body = ByteWriter()
    table.finish(into: &ops)
    let changes = [
      (ColumnSpec.Change.actor, numbers(0)), (ColumnSpec.Change.sequence, deltas(1)),
      (ColumnSpec.Change.maxOp, deltas(firstCounter + Int64(keys.count) - 1)),
    ]
    body.uleb(1)
    body.actor(Self.author)
    body.hashes([])
    body.raw(list(changes))
    ops.writeHeader(to: &body)
    body.raw(changes.flatMap(\.1))
    ops.writeData(to: &body)
    return Chunk(kind: .document, body: body.bytes[...], hash: Chunk.hash(.document, body: body.bytes))
  }

  @Test func theKeysOfAMapAreInOrder() throws {
    #expect(throws: Never.self) {
      try DocumentDecoder.decode(puts(["a", "b", "b", "c"]), verification: .deferred)
    }
    for keys in [["b", "a"], ["a", "c", "b"], ["a", "b", "a"]] {
      #expect(throws: LoadError.format(.invalid(.key, at: 0))) {
        try DocumentDecoder.decode(puts(keys), verification: .deferred)
      }
    }
  }

  @Test func aDocumentDoesNotUseTheGreatestCounterEither() throws {
    let greatest = Int64(UInt32.max)
    let loaded = try DocumentDecoder.decode(puts(["a"], firstCounter: greatest - 1), verification: .deferred)
    #expect(loaded.graph.records[0].maxOp == UInt32.max - 1)
    #expect(throws: LoadError.format(.valueOutOfRange(at: 0))) {
      try DocumentDecoder.decode(puts(["a"], firstCounter: greatest), verification: .deferred)
    }
  }

  /// Numbers that were inserted and deleted from front to back stand in rows that go on alike, but are no text.
  @Test(arguments: [0..<7, 2..<6, 3..<4]) func aListDeletedFromFrontToBackIsLoaded(deleted: Range<Int>) throws {
    let document = try Document(actor: "aa")
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    try document.splice(obj: list, start: 0, delete: 0, values: (0..<7).map { .Int(Int64($0)) })
    document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    let full = document.heads()
    for _ in deleted { try document.delete(obj: list, index: UInt64(deleted.lowerBound)) }
    document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    let loaded = try Document(document.save())
    #expect(loaded.heads() == document.heads() && loaded.length(obj: list) == UInt64(7 - deleted.count))
    #expect(try loaded.valuesAt(obj: list, heads: full) == (0..<7).map { .Scalar(.Int($0)) })
  }

  // MARK: Changes of a document

  /// One change without operations.
  private static let emptyChange: [(ColumnSpec, [UInt8])] = [
    (ColumnSpec.Change.actor, [0x7f, 0]), (ColumnSpec.Change.sequence, [0x7f, 1]),
    (ColumnSpec.Change.maxOp, [0x7f, 0]), (ColumnSpec.Change.time, [0x7f, 0]),
    (ColumnSpec.Change.message, [0x7f, 1, 97]),
    (ColumnSpec.Change.dependencyCount, [0x7f, 0]), (ColumnSpec.Change.dependencyIndex, []),
    (ColumnSpec.Change.extraMetadata, [0x7f, RawValue.Code.bytes]),
  ]

  @Test(arguments: 1...6) func aColumnOfMoreRowsThanThereAreChangesIsRefused(place: Int) throws {
    #expect(try DocumentDecoder.decode(document(changes: Self.emptyChange), verification: .deferred).graph.count == 1)
    var columns = Self.emptyChange
    // A second row, which is 1 or, of the messages, "b".
    columns[place].1 = place == 4 ? strings("a", "b") : [0x7f, columns[place].1.last ?? 0, 0x7f, 1]
    if place == 6 { columns[place].1 = [0x7f, 0] }
    let error = #expect(throws: LoadError.self) {
      try DocumentDecoder.decode(document(changes: columns), verification: .deferred)
    }
    guard case .format(.rowCount)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func whatAChangeHasBesidesIsAValueThatFitsItsType() throws {
    var columns = Self.emptyChange
    for code in [RawValue.Code.null, RawValue.Code.bytes, RawValue.Code.string] {
      columns[7].1 = [0x7f, code]
      #expect(try DocumentDecoder.decode(document(changes: columns), verification: .deferred).graph.count == 1)
    }
    // A number of no bytes.
    columns[7].1 = [0x7f, RawValue.Code.uint]
    #expect(throws: LoadError.format(.badValue(typeCode: RawValue.Code.uint, at: 0))) {
      try DocumentDecoder.decode(document(changes: columns), verification: .deferred)
    }
  }

  // MARK: Changes of a bundle

  /// So a few bytes cannot claim millions of dependencies.
  @Test func theDependenciesOfABundleAreCounted() throws {
    let columns = [
      (ColumnSpec.BundleChange.actor, numbers(0)), (ColumnSpec.BundleChange.sequence, deltas(1)),
      (ColumnSpec.BundleChange.startOp, deltas(1)), (ColumnSpec.BundleChange.maxOp, deltas(0)),
      (ColumnSpec.BundleChange.dependencyCount, numbers(3)),
      (ColumnSpec.BundleChange.dependencyIndex, deltas(1, 2, 3)),
    ]
    var reader = ByteReader(list(columns) + columns.flatMap(\.1))
    let set = try ColumnHeader(from: &reader, allowingDeflate: false).readColumns(from: &reader)
    let changes = try BundleChange.read(set, actorCount: 1, externalCount: 3, limit: 3)
    #expect(changes.map(\.deps) == [[1, 2, 3]])
    #expect(throws: FormatError.tooMany(limit: 2, at: 0)) {
      try BundleChange.read(set, actorCount: 1, externalCount: 3, limit: 2)
    }
  }

  /// Nothing that is computed on the way to a counter may be greater than one.
  @Test func aDocumentWhoseCountersAreFarBeyondHalfOfTheirRangeIsLoaded() throws {
    let document = try Document(actor: "aa")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    let actors = [ActorId(bytes: [0xbb]), Self.author]
    let header = ChangeHeader(
      deps: Array(document.heads()), actor: actors[0], seq: 1, startOp: 3_000_000_000, time: 0, message: nil)
    let run = OpRun.insertion(
      object: OpId(counter: 1, actor: 1), behind: .zero, count: 3, text: 0, byteCount: 3)
    var encoder = SingleRunEncoder()
    encoder.write(DecodedChange(Chunk.hash(.change, body: []), header, actors, run: run, text: Array("far".utf8)))
    let chunk = Data(Chunk.encode(.change, body: Array(encoder.body)).bytes)
    // Earlier versions took it from peers.
    #expect(document.applyChunks([chunk], areOwn: true).isEmpty)
    for letter in " and further" {
      try document.spliceText(obj: text, start: document.length(obj: text), delete: 0, value: String(letter))
      document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    let loaded = try Document(document.save())
    #expect(try loaded.heads() == document.heads() && loaded.text(obj: text) == "far and further")
    #expect(loaded.getHistory() == document.getHistory())
  }
}

private struct Letters: OpSource {
  let runs: [OpRun]
  let text: [UInt8]
  let actorList: [ActorId]
  var others: [OtherOp] { [] }
}
