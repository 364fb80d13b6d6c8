/// Consecutive rows of an operation table whose columns all continue in the same way.
struct OpRows {
  /// An id as the columns have it, not yet checked against the actors.
  struct Id: Equatable {
    var actor: UInt64
    var counter: Int64
    /// The difference from row to row.
    var step: Int64 = 0
  }

  enum Key {
    case map(String)
    /// Nil for the head.
    case element(Id?)
  }

  /// Some ids; nearly always none or one.
  struct Group: RandomAccessCollection {
    private var one: Id?
    private var others: [Id] = []

    init(_ one: Id? = nil) { self.one = one }

    mutating func append(_ id: Id) {
      if one == nil { one = id } else { others.append(id) }
    }

    var startIndex: Int { 0 }
    var endIndex: Int { one == nil ? 0 : 1 + others.count }
    subscript(index: Int) -> Id {
      if index > 0 { return others[index - 1] }
      guard let one else { preconditionFailure("there is one") }
      return one
    }
  }

  var count: Int
  /// Nil for the root.
  var object: Id?
  var key: Key
  /// Only in documents.
  var id: Id?
  var isInsert: Bool
  var action: OpAction
  var value: ValueRun
  /// Predecessors or successors: one for each row, or several for a single row.
  var group: Group
  var expand: Bool
  var markName: String?
}

/// Reads the operation table of a change or a document in groups of consecutive rows.
struct OpColumnReader {
  private let isDocument: Bool
  /// How many more predecessors or successors may still come than one per row. A run-length encoded table could claim
  /// any number.
  var memberLimit = FormatLimits.denseOps
  var steady: SteadyColumns
  var keyActor: RunLengthDecoder<UInt64>
  var keyCounter: DeltaDecoder
  var idActor: RunLengthDecoder<UInt64>
  var idCounter: DeltaDecoder
  var value: ValueDecoder
  var groupCount, groupActor: RunLengthDecoder<UInt64>
  var groupCounter: DeltaDecoder

  /// The columns that are read here.
  static func known(isDocument: Bool) -> Set<ColumnSpec> {
    typealias Op = ColumnSpec.Op
    let common: Set<ColumnSpec> = [
      Op.objectActor, Op.objectCounter, Op.keyActor, Op.keyCounter, Op.keyString, Op.insert, Op.action,
      Op.valueMetadata, Op.valueRaw, Op.expand, Op.markName,
    ]
    return common.union(
      isDocument
        ? [Op.idActor, Op.idCounter, Op.successorCount, Op.successorActor, Op.successorCounter]
        : [Op.predecessorCount, Op.predecessorActor, Op.predecessorCounter])
  }

  init(_ columns: ColumnSet, isDocument: Bool) {
    typealias Op = ColumnSpec.Op
    self.isDocument = isDocument
    let mode: ColumnMode = isDocument ? .strict : .lenient, counters = DeltaDecoder.counters
    steady = SteadyColumns(columns, mode: mode)
    keyActor = RunLengthDecoder(columns[Op.keyActor], mode: mode)
    keyCounter = DeltaDecoder(columns[Op.keyCounter], range: counters, mode: mode)
    idActor = RunLengthDecoder(columns[Op.idActor], mode: mode)
    idCounter = DeltaDecoder(columns[Op.idCounter], range: counters, mode: mode)
    value = ValueDecoder(metadata: columns[Op.valueMetadata], raw: columns[Op.valueRaw], mode: mode)
    groupCount = RunLengthDecoder(columns[isDocument ? Op.successorCount : Op.predecessorCount], mode: mode)
    groupActor = RunLengthDecoder(columns[isDocument ? Op.successorActor : Op.predecessorActor], mode: mode)
    groupCounter = DeltaDecoder(
      columns[isDocument ? Op.successorCounter : Op.predecessorCounter], range: counters, mode: mode)
  }

  /// The next rows; nil at the end. `previous` is the id of the row before, which the next one's key may name. In that
  /// case, or if a deletion advances in step with its keys, many rows are returned as one; otherwise typed text is
  /// returned row by row.
  /// - Parameter nextId: in a change, the id of the next row
  /// - Parameter limit: the most rows to return
  mutating func next(nextId: OpRows.Id?, atMost limit: Int = .max) throws(FormatError) -> OpRows? {
    guard try steady.read() else { return nil }
    var count = min(steady.count, limit)
    let keyActorRun = try keyActor.peekRun(), keyCounterRun = try keyCounter.peekRun()
    count = min(count, keyActorRun?.count ?? count, keyCounterRun?.count ?? count, try value.rowsInRun())
    var id: OpRows.Id? = nextId
    if isDocument {
      guard let actorRun = try idActor.peekRun(), let counterRun = try idCounter.peekRun() else {
        throw .truncated(at: idActor.offset)
      }
      guard let actor = actorRun.value, let counter = counterRun.first else {
        throw .unexpectedNull(at: idActor.offset)
      }
      count = min(count, actorRun.count, counterRun.count)
      id = OpRows.Id(actor: actor, counter: counter, step: counterRun.step)
    }
    guard count > 0, let id else { throw .truncated(at: value.offset) }
    var members = 0
    if let run = try groupCount.peekRun() {
      guard let each = run.value else { throw .unexpectedNull(at: groupCount.offset) }
      guard let exact = Int(exactly: each) else { throw .tooMany(limit: FormatLimits.rows, at: groupCount.offset) }
      members = exact
      count = min(count, run.count)
      if members > 1 { count = 1 }
    }
    let single = members == 1 ? try peekMember() : nil
    if let single { count = min(count, single.count) }

    let key = try key(keyActorRun?.value ?? nil, keyCounterRun)
    if count > 1, !goesOn(key: key, id: id, single: single?.id) { count = 1 }

    steady.skip(count)
    keyActor.skip(count)
    keyCounter.skip(count)
    groupCount.skip(count)
    if isDocument {
      idActor.skip(count)
      idCounter.skip(count)
    }
    var group = OpRows.Group(single?.id)
    if single != nil {
      groupActor.skip(count)
      groupCounter.skip(count)
    } else {
      guard members <= memberLimit else { throw .tooMany(limit: memberLimit, at: groupCount.offset) }
      memberLimit -= members
      while group.count < members {
        guard let member = try peekMember() else { throw .truncated(at: groupActor.offset) }
        groupActor.skip(1)
        groupCounter.skip(1)
        group.append(member.id)
      }
    }
    guard let values = try value.nextRun(atMost: count), values.count == count else {
      throw .truncated(at: value.offset)
    }
    return OpRows(
      count: count, object: steady.object, key: key, id: id, isInsert: steady.isInsert, action: steady.action,
      value: values, group: group, expand: steady.expand, markName: steady.markName)
  }

  /// Throws if any column has more rows than the action column.
  mutating func expectEnd() throws(FormatError) {
    try steady.expectEnd()
    try keyActor.expectEnd()
    try keyCounter.expectEnd()
    try idActor.expectEnd()
    try idCounter.expectEnd()
    try value.expectEnd(allowingSpareBytes: isDocument)
    try groupCount.expectEnd()
    try groupActor.expectEnd()
    try groupCounter.expectEnd()
  }

  mutating func peekMember() throws(FormatError) -> (id: OpRows.Id, count: Int)? {
    guard let actorRun = try groupActor.peekRun(), let counterRun = try groupCounter.peekRun() else {
      throw .truncated(at: groupActor.offset)
    }
    guard let actor = actorRun.value, let counter = counterRun.first else {
      throw .unexpectedNull(at: groupActor.offset)
    }
    return (
      OpRows.Id(actor: actor, counter: counter, step: counterRun.step), min(actorRun.count, counterRun.count)
    )
  }

  private func key(_ actor: UInt64?, _ counter: DeltaRun?) throws(FormatError) -> OpRows.Key {
    if let string = steady.key {
      guard actor == nil, counter?.first == nil else { throw .invalid(.key, at: steady.keyOffset) }
      return .map(string)
    }
    guard let counter, let first = counter.first else { throw .invalid(.key, at: keyCounter.offset) }
    guard let actor else {
      guard first == 0 else { throw .invalid(.key, at: keyCounter.offset) }
      return .element(nil)
    }
    guard first > 0 else { throw .invalid(.key, at: keyCounter.offset) }
    return .element(OpRows.Id(actor: actor, counter: first, step: counter.step))
  }

  /// Whether rows that agree in everything else are one act.
  private func goesOn(key: OpRows.Key, id: OpRows.Id, single: OpRows.Id?) -> Bool {
    guard case .element(let element?) = key, !isDocument || id.step == 1 else { return false }
    if steady.isInsert, steady.action == .set {
      return element.actor == id.actor && element.step == 1 && element.counter == id.counter - 1
        && (single == nil || (isDocument && abs(single?.step ?? 0) == 1))
    }
    if !isDocument, steady.action == .delete, let single { return single == element && abs(element.step) == 1 }
    return false
  }
}
