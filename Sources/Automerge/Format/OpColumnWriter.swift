/// Writes the table of operations of a change or a document, run by run.
struct OpColumnWriter {
  /// An operation id as the columns have it, with the actor's index in the table.
  struct Id {
    var actor: UInt64
    var counter: Int64
  }

  /// The kind of table.
  enum Table {
    /// Rows have predecessors.
    case change
    /// Rows have ids and successors.
    case document
    /// Rows have the actors of their ids, and predecessors. The caller writes the column that says where each row's id
    /// is.
    case bundle
  }

  private let table: Table
  private var objectActor = RunLengthEncoder<UInt64>()
  private var objectCounter = RunLengthEncoder<UInt64>()
  /// In a bundle, replaces `objectCounter`.
  private var objectCounterChange = DeltaEncoder()
  private var keyActor = RunLengthEncoder<UInt64>()
  private var keyCounter = DeltaEncoder()
  private var keyString = RunLengthEncoder<String>()
  private var idActor = RunLengthEncoder<UInt64>()
  private var idCounter = DeltaEncoder()
  private var insert = BooleanEncoder()
  private var action = RunLengthEncoder<UInt64>()
  private var value = ValueEncoder()
  private var groupCount = RunLengthEncoder<UInt64>()
  private var groupActor = RunLengthEncoder<UInt64>()
  private var groupCounter = DeltaEncoder()
  private var expand = BooleanEncoder()
  private var markName = RunLengthEncoder<String>()

  init(_ table: Table) { self.table = table }

  private mutating func appendObject(_ object: Id?, count: Int) {
    objectActor.append(object?.actor, count: count)
    if table != .bundle {
      objectCounter.append(object.map { UInt64($0.counter) }, count: count)
    } else if let object {
      objectCounterChange.appendAscending(object.counter, count: count, step: 0)
    } else {
      objectCounterChange.appendNull(count: count)
    }
  }

  /// The key of a list element; nil for the head.
  private mutating func appendElement(_ element: Id?) {
    keyActor.append(element?.actor)
    keyCounter.append(element?.counter ?? 0)
    keyString.appendNull()
  }

  private mutating func appendPlain(action code: OpAction, isInsert: Bool, count: Int) {
    insert.append(isInsert, count: count)
    action.append(UInt64(code.rawValue), count: count)
    expand.append(false, count: count)
    markName.appendNull(count: count)
  }

  /// Writes the ids of consecutive rows, in a document or a bundle.
  mutating func appendIds(_ first: Id, count: Int) {
    idActor.append(first.actor, count: count)
    if table == .document { idCounter.appendAscending(first.counter, count: count) }
  }

  /// Writes one predecessor or successor for each of `count` rows, `step` apart; none if `first` is nil.
  mutating func appendSingles(_ first: Id?, count: Int, step: Int) {
    groupCount.append(first == nil ? 0 : 1, count: count)
    guard let first else { return }
    groupActor.append(first.actor, count: count)
    groupCounter.appendAscending(first.counter, count: count, step: Int64(step))
  }

  /// Writes typed text: the key of the first row is `reference`, that of each later one is the row before it, from `id`
  /// on.
  mutating func appendText(object: Id?, reference: Id?, id: Id, count: Int, utf8: ArraySlice<UInt8>) {
    appendObject(object, count: count)
    appendElement(reference)
    keyActor.append(id.actor, count: count - 1)
    keyCounter.appendAscending(id.counter, count: count - 1)
    keyString.appendNull(count: count - 1)
    appendPlain(action: .set, isInsert: true, count: count)
    value.appendText(utf8)
  }

  /// Writes deletions of elements, each of which is the predecessor of its own deletion.
  mutating func appendDeletions(object: Id?, from target: Id, count: Int, step: Int) {
    appendObject(object, count: count)
    keyActor.append(target.actor, count: count)
    keyCounter.appendAscending(target.counter, count: count, step: Int64(step))
    keyString.appendNull(count: count)
    appendPlain(action: .delete, isInsert: false, count: count)
    value.appendNull(count: count)
    appendSingles(target, count: count, step: step)
  }

  /// Writes any other operation. Its group is appended with `appendGroup`.
  mutating func append(_ op: OtherOp, object: Id?, element: Id?) {
    appendObject(object, count: 1)
    switch op.key {
    case .map(let key):
      keyActor.appendNull()
      keyCounter.appendNull()
      keyString.append(key.string)
    case .element: appendElement(element)
    }
    insert.append(op.isInsert)
    action.append(UInt64(op.action.rawValue))
    value.append(op.value)
    expand.append(op.expand)
    markName.append(op.markName)
  }

  mutating func appendGroup(_ ids: [Id]) {
    groupCount.append(UInt64(ids.count))
    for id in ids {
      groupActor.append(id.actor)
      groupCounter.append(id.counter)
    }
  }

  mutating func finish(into columns: inout ColumnWriter) {
    typealias Op = ColumnSpec.Op
    columns.append(Op.objectActor, objectActor.finishUnlessNull())
    columns.append(Op.objectCounter, objectCounter.finishUnlessNull())
    columns.append(ColumnSpec.BundleOp.objectCounter, objectCounterChange.finishUnlessNull())
    columns.append(Op.keyActor, keyActor.finishUnlessNull())
    columns.append(Op.keyCounter, keyCounter.finishUnlessNull())
    columns.append(Op.keyString, keyString.finishUnlessNull())
    columns.append(Op.idActor, idActor.finish())
    columns.append(Op.idCounter, idCounter.finish())
    columns.append(Op.insert, insert.finish())
    columns.append(Op.action, action.finish())
    let values = value.finish()
    columns.append(Op.valueMetadata, values.metadata)
    columns.append(Op.valueRaw, values.raw)
    let isDocument = table == .document
    columns.append(isDocument ? Op.successorCount : Op.predecessorCount, groupCount.finish())
    columns.append(isDocument ? Op.successorActor : Op.predecessorActor, groupActor.finish())
    columns.append(isDocument ? Op.successorCounter : Op.predecessorCounter, groupCounter.finish())
    let hasExpand = expand.hasTrue
    let expanded = expand.finish()
    columns.append(Op.expand, hasExpand ? expanded : [])
    columns.append(Op.markName, markName.finishUnlessNull())
  }
}
