/// Consecutive rows of an operation table whose columns all go on in the same way.
struct OpRows {
  /// An id as it stands in columns, not yet checked against the actors there.
  struct Id: Equatable {
    var actor: UInt64
    var counter: Int64
    /// From row to row.
    var step: Int64 = 0
  }

  enum Key {
    case map(String)
    /// Nil is the head.
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
  /// Nil is the root.
  var object: Id?
  var key: Key
  /// Documents only.
  var id: Id?
  var isInsert: Bool
  var action: OpAction
  var value: ValueRun
  /// Predecessors or successors: one for each row, or several for a single row.
  var group: Group
  var expand: Bool
  var markName: String?
}

/// Reads the table of operations of a change or a document in stretches of rows.
struct OpColumnReader {
  private let isDocument: Bool
  private var objectActor, objectCounter, keyActor: RunLengthDecoder<UInt64>
  private var keyCounter: DeltaDecoder
  private var keyString: RunLengthDecoder<String>
  private var idActor: RunLengthDecoder<UInt64>
  private var idCounter: DeltaDecoder
  private var insert: BooleanDecoder
  private var action: RunLengthDecoder<UInt64>
  private var value: ValueDecoder
  private var groupCount, groupActor: RunLengthDecoder<UInt64>
  private var groupCounter: DeltaDecoder
  private var expand: BooleanDecoder
  private var markName: RunLengthDecoder<String>

  /// Columns that are read here.
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
    objectActor = RunLengthDecoder(columns[Op.objectActor], mode: mode)
    objectCounter = RunLengthDecoder(columns[Op.objectCounter], mode: mode)
    keyActor = RunLengthDecoder(columns[Op.keyActor], mode: mode)
    keyCounter = DeltaDecoder(columns[Op.keyCounter], range: counters, mode: mode)
    keyString = RunLengthDecoder(columns[Op.keyString], mode: mode)
    idActor = RunLengthDecoder(columns[Op.idActor], mode: mode)
    idCounter = DeltaDecoder(columns[Op.idCounter], range: counters, mode: mode)
    insert = BooleanDecoder(columns[Op.insert], mode: mode)
    action = RunLengthDecoder(columns[Op.action], mode: mode)
    value = ValueDecoder(metadata: columns[Op.valueMetadata], raw: columns[Op.valueRaw], mode: mode)
    groupCount = RunLengthDecoder(columns[isDocument ? Op.successorCount : Op.predecessorCount], mode: mode)
    groupActor = RunLengthDecoder(columns[isDocument ? Op.successorActor : Op.predecessorActor], mode: mode)
    groupCounter = DeltaDecoder(
      columns[isDocument ? Op.successorCounter : Op.predecessorCounter], range: counters, mode: mode)
    expand = BooleanDecoder(columns[Op.expand], mode: mode)
    markName = RunLengthDecoder(columns[Op.markName], mode: mode)
  }

  /// The next rows; nil at the end. `previous` is the id of the row before, which the next one's key may name:
  /// then, or if a deletion goes on in step with its keys, many rows come as one; else typed text comes row by row.
  /// - Parameter nextId: in a change, the id of the row to come.
  /// - Parameter limit: how many rows may come at most.
  mutating func next(nextId: OpRows.Id?, atMost limit: Int = .max) throws(FormatError) -> OpRows? {
    guard let actionRun = try action.peekRun() else { return nil }
    guard let code = actionRun.value else { throw .unexpectedNull(at: action.offset) }
    guard let opAction = OpAction(rawValue: UInt8(truncatingIfNeeded: code)), code < 8 else {
      throw .invalid(.action, at: action.offset)
    }
    var count = min(actionRun.count, limit)
    let objectRun = try objectActor.peekRun(), objectCounterRun = try objectCounter.peekRun()
    let keyActorRun = try keyActor.peekRun(), keyCounterRun = try keyCounter.peekRun()
    let keyStringRun = try keyString.peekRun(), markRun = try markName.peekRun(), expandRun = try expand.peekRun()
    guard let insertRun = try insert.peekRun() else { throw .truncated(at: insert.offset) }
    count = min(count, objectRun?.count ?? count, objectCounterRun?.count ?? count, keyActorRun?.count ?? count)
    count = min(count, keyCounterRun?.count ?? count, keyStringRun?.count ?? count, markRun?.count ?? count)
    count = min(count, expandRun?.count ?? count, insertRun.count, try value.rowsInRun())
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

    let object = try objectId(objectRun?.value ?? nil, objectCounterRun?.value ?? nil)
    let key = try key(keyActorRun?.value ?? nil, keyCounterRun, keyStringRun?.value ?? nil)
    if count > 1, !goesOn(key: key, id: id, single: single?.id, isInsert: insertRun.value, action: opAction) {
      count = 1
    }

    action.skip(count)
    objectActor.skip(count)
    objectCounter.skip(count)
    keyActor.skip(count)
    if let keyCounterRun { keyCounter.skip(count, of: keyCounterRun) }
    keyString.skip(count)
    insert.skip(count)
    expand.skip(count)
    markName.skip(count)
    groupCount.skip(count)
    if isDocument {
      idActor.skip(count)
      _ = try idCounter.nextRun(atMost: count)
    }
    var group = OpRows.Group(single?.id)
    if single != nil {
      groupActor.skip(count)
      _ = try groupCounter.nextRun(atMost: count)
    } else {
      while group.count < members {
        guard let member = try peekMember() else { throw .truncated(at: groupActor.offset) }
        groupActor.skip(1)
        _ = try groupCounter.nextRun(atMost: 1)
        group.append(member.id)
      }
    }
    guard let values = try value.nextRun(atMost: count), values.count == count else {
      throw .truncated(at: value.offset)
    }
    return OpRows(
      count: count, object: object, key: key, id: id, isInsert: insertRun.value, action: opAction, value: values,
      group: group, expand: expandRun?.value ?? false, markName: markRun?.value ?? nil)
  }

  /// Throws if any column has more rows than the action column.
  mutating func expectEnd() throws(FormatError) {
    try objectActor.expectEnd()
    try objectCounter.expectEnd()
    try keyActor.expectEnd()
    try keyCounter.expectEnd()
    try keyString.expectEnd()
    try idActor.expectEnd()
    try idCounter.expectEnd()
    try insert.expectEnd()
    try value.expectEnd(allowingSpareBytes: isDocument)
    try groupCount.expectEnd()
    try groupActor.expectEnd()
    try groupCounter.expectEnd()
    try expand.expectEnd()
    try markName.expectEnd()
  }

  private mutating func peekMember() throws(FormatError) -> (id: OpRows.Id, count: Int)? {
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

  private func objectId(_ actor: UInt64?, _ counter: UInt64?) throws(FormatError) -> OpRows.Id? {
    guard let counter, counter != 0 else { return nil }
    guard let actor, counter <= UInt32.max else { throw .invalid(.object, at: objectCounter.offset) }
    return OpRows.Id(actor: actor, counter: Int64(counter))
  }

  private func key(_ actor: UInt64?, _ counter: DeltaRun?, _ string: String?) throws(FormatError) -> OpRows.Key {
    if let string {
      guard actor == nil, counter?.first == nil else { throw .invalid(.key, at: keyString.offset) }
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
  private func goesOn(key: OpRows.Key, id: OpRows.Id, single: OpRows.Id?, isInsert: Bool, action: OpAction) -> Bool {
    guard case .element(let element?) = key, !isDocument || id.step == 1 else { return false }
    if isInsert, action == .set {
      return element.actor == id.actor && element.step == 1 && element.counter == id.counter - 1
        && (single == nil || (isDocument && abs(single?.step ?? 0) == 1))
    }
    if !isDocument, action == .delete, let single { return single == element && abs(element.step) == 1 }
    return false
  }
}
