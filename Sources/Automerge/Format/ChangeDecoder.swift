/// A change as read from its chunk: its operations as runs, whose actors are indices into `actorList`, in which the
/// author is first.
struct DecodedChange: OpSource {
  let hash: ChangeHash
  let header: ChangeHeader
  let actorList: [ActorId]
  fileprivate(set) var runs: [OpRun] = []
  fileprivate(set) var others: [OtherOp] = []
  fileprivate(set) var text: [UInt8] = []
  fileprivate(set) var opCount = 0
  /// What the repeated keys and names stand for.
  fileprivate(set) var repeatedByteCount = 0

  /// A document has each actor once, and so has a change that it writes.
  fileprivate var namesEachActorOnce: Bool {
    switch actorList.count {
    case ...1: true
    case 2: actorList[0] != actorList[1]
    default: Set(actorList).count == actorList.count
    }
  }

  /// Its operations other than typing and deleting, each with its `weight`.
  var opWeight: Int { others.reduce(0) { $0 + $1.weight } }

  /// The counter of the last operation; one less than the first counter if there is none.
  var maxOp: UInt32 { UInt32(Int(header.startOp) - 1 + opCount) }
}

/// Reads change chunks.
///
/// A change is accepted only if writing it again gives the same bytes. Any other (with runs that are not canonical,
/// unknown columns, or values with spare bytes) would keep its hash in memory but not in a saved document, which could
/// then not be loaded; such a change is refused with `LoadError.notReproducible`.
enum ChangeDecoder {
  /// - Parameters:
  ///   - limit: the most runs and other operations that the change may have
  ///   - denseOps: how many operations other than typing and deleting, and predecessors, it may have beyond one for each byte
  static func decode(
    _ chunk: Chunk, atMost limit: Int = .max, denseOps: Int = FormatLimits.denseOps
  ) throws(LoadError) -> DecodedChange {
    var change: DecodedChange
    let isWrittenAgain: Bool
    do throws(FormatError) {
      (change, isWrittenAgain) = try read(chunk, atMost: limit, denseOps: denseOps)
    } catch {
      throw .format(error)
    }
    guard change.namesEachActorOnce else { throw .notReproducible(chunk.hash) }
    if isWrittenAgain { return change }
    let body = ChangeEncoder.body(change.header, author: 0, runs: change.runs, of: change)
    guard body.elementsEqual(chunk.body) else { throw .notReproducible(chunk.hash) }
    change.runs.reserveCapacity(0)
    return change
  }

  /// The change, and whether it is already known that writing it again gives the same bytes.
  private static func read(
    _ chunk: Chunk, atMost limit: Int, denseOps: Int
  ) throws(FormatError) -> (DecodedChange, Bool) {
    var reader = ByteReader(chunk.body)
    let deps = try reader.hashes()
    let author = try reader.actor()
    let seq = try reader.uleb()
    let startOffset = reader.offset
    let startOp = try reader.uleb32()
    guard seq > 0 else { throw .invalid(.sequence, at: startOffset) }
    guard startOp > 0 else { throw .invalid(.startOp, at: startOffset) }
    let time = try reader.sleb()
    let message = try reader.string()
    var actors = [author]
    for _ in 0..<(try reader.count(itemByteCount: 1)) { actors.append(try reader.actor()) }
    var head = ChangeHeader(
      deps: deps, actor: author, seq: seq, startOp: startOp, time: time, message: message.isEmpty ? nil : message)
    if let change = singleRun(chunk, header: head, actors: actors, reader) { return (change, true) }
    let columnHead = try ColumnHeader(from: &reader, allowingDeflate: false)
    let columns = try columnHead.readColumns(from: &reader)
    head.extra = Array(reader.rest)
    var change = DecodedChange(hash: chunk.hash, header: head, actorList: actors)
    change.repeatedByteCount = try columns.repeatedNameByteCount
    let repeatable = FormatLimits.repeatedByteCountOfChange(stored: chunk.body.count)
    guard change.repeatedByteCount <= repeatable else { throw .tooMany(limit: repeatable, at: 0) }
    try readOps(
      OpColumnReader(columns, isDocument: false), othersAtMost: denseOps + chunk.body.count, atMost: limit,
      into: &change)
    return (change, false)
  }

  private static func readOps(
    _ columns: OpColumnReader, othersAtMost limit: Int, atMost most: Int, into change: inout DecodedChange
  ) throws(FormatError) {
    var columns = columns
    let start = Int64(change.header.startOp)
    columns.memberLimit = limit
    while true {
      let next = start + Int64(change.opCount)
      guard let rows = try columns.next(nextId: OpRows.Id(actor: 0, counter: next)) else { break }
      // The greatest counter is never used, so that the counter after an operation always fits.
      guard next + Int64(rows.count) <= Int64(UInt32.max) else { throw .valueOutOfRange(at: 0) }
      try change.append(rows, id: OpId(counter: UInt32(next), actor: 0))
      change.opCount += rows.count
      guard change.others.count <= limit else { throw .tooMany(limit: limit, at: 0) }
      guard change.runs.count <= most else { throw .tooMany(limit: most, at: 0) }
    }
    try columns.expectEnd()
  }
}

extension FormatLimits {
  /// Chunks that are loaded together may have so many more operations, other than typing and deleting, than bytes, and each chunk so
  /// many more predecessors than operations. Each takes half a kilobyte of memory, and a run-length encoded table could claim any
  /// number. A program that sets a million numbers to zero stays below it.
  static let denseOps = 1 << 22
  /// The same for a change of a peer.
  static let denseOpsOfPeer = 65_536

  static func denseOps(isOwn: Bool) -> Int { isOwn ? rows : denseOps }

  /// The counters of a change may lie so far beyond the number of operations in the document.
  static let counterGap = 1 << 24
}

extension DecodedChange {
  /// A change of one run that points into `text`.
  init(_ hash: ChangeHash, _ header: ChangeHeader, _ actors: [ActorId], run: OpRun, text: [UInt8]) {
    self.init(hash: hash, header: header, actorList: actors)
    (runs, self.text, opCount) = ([run], text, Int(run.count))
  }

  fileprivate func checked(_ id: OpRows.Id) throws(FormatError) -> OpId {
    guard id.actor < UInt64(actorList.count), let counter = UInt32(exactly: id.counter), counter > 0 else {
      throw .invalid(.actor, at: 0)
    }
    return OpId(counter: counter, actor: UInt32(id.actor))
  }

  /// Adds operations after the existing ones. `id` is the first one's; its actor is an index into `actorList`.
  mutating func append(_ rows: OpRows, id: OpId) throws(FormatError) {
    var object = OpId.zero
    if let named = rows.object { object = try checked(named) }
    var run: OpRun?
    if case .element(let element) = rows.key, !rows.expand, rows.markName == nil {
      var target = OpId.zero
      if let element { target = try checked(element) }
      if rows.isInsert, rows.action == .set, rows.group.isEmpty, rows.value.isText {
        run = .insertion(
          object: object, behind: target, count: rows.count, text: text.count, byteCount: rows.value.bytes.count)
        text.append(contentsOf: rows.value.bytes)
      } else if !rows.isInsert, rows.action == .delete, rows.group.count == 1, let element,
        let deleted = rows.group.first, deleted.actor == element.actor, deleted.counter == element.counter,
        rows.value.code == RawValue.Code.null, rows.value.byteCount == 0
      {
        run = .deletion(object: object, from: target, count: rows.count, step: element.step == -1 ? -1 : 1)
      }
    }
    if let run {
      append(run, id: id)
      return
    }
    for row in 0..<rows.count { try appendOther(rows, row: row, object: object) }
  }

  private mutating func append(_ run: OpRun, id: OpId) {
    if let last = runs.last, last.kind != .other {
      let lastId = OpId(counter: id.counter - last.count, actor: id.actor)
      if runs[runs.count - 1].merge(run, id: lastId) { return }
    }
    runs.append(run)
  }

  private mutating func appendOther(_ rows: OpRows, row: Int, object: OpId) throws(FormatError) {
    let value = try rows.value.value(at: row)
    var key = OtherOp.Key.element(.zero)
    switch rows.key {
    case .map(let string): key = .map(MapKey(string))
    case .element(let element?):
      key = .element(try checked(OpRows.Id(actor: element.actor, counter: element.counter + Int64(row) * element.step)))
    case .element(nil): break
    }
    var predecessors: [OpId] = []
    for member in rows.group {
      predecessors.append(
        try checked(OpRows.Id(actor: member.actor, counter: member.counter + Int64(row) * member.step)))
    }
    let op = OtherOp(
      object: object, key: key, isInsert: rows.isInsert, action: rows.action, value: value, expand: rows.expand,
      markName: rows.markName, predecessors: predecessors)
    try op.check()
    others.append(op)
    runs.append(.other(object: object, index: others.count - 1))
    guard others.count <= FormatLimits.rows else { throw .tooMany(limit: FormatLimits.rows, at: 0) }
  }
}

extension OtherOp {
  /// Refuses what no replica writes, and what a document could not hold.
  func check() throws(FormatError) {
    if isInsert {
      guard case .element = key, action != .delete, action != .increment, predecessors.isEmpty else {
        throw .invalid(.action, at: 0)
      }
    } else if case .element(let element) = key, element.isZero {
      throw .invalid(.key, at: 0)
    }
    switch action {
    case .delete:
      guard value == .null, !predecessors.isEmpty, !expand, markName == nil else { throw .invalid(.action, at: 0) }
    case .increment:
      let code = value.code
      guard code == RawValue.Code.int || code == RawValue.Code.uint else {
        throw .badValue(typeCode: code, at: 0)
      }
    case .makeMap, .makeList, .makeText, .makeTable, .set, .mark: break
    }
  }
}
