/// The columns of an operation table that rarely change from row to row, read together.
struct SteadyColumns {
  private var objectActor, objectCounter: RunLengthDecoder<UInt64>
  private var keyString: RunLengthDecoder<String>
  private var insert: BooleanDecoder
  private var actions: RunLengthDecoder<UInt64>
  private var expands: BooleanDecoder
  private var markNames: RunLengthDecoder<String>
  /// Rows that were consumed here but not in the columns.
  private var taken = 0

  /// For how many of the next rows all properties below hold; 0 before the first `read`, and when these rows are used
  /// up.
  private(set) var count = 0
  /// Nil for the root.
  private(set) var object: OpRows.Id?
  /// Nil if the key is an element.
  private(set) var key: String?
  private(set) var isInsert = false
  private(set) var action = OpAction.set
  private(set) var expand = false
  private(set) var markName: String?

  init(_ columns: ColumnSet, mode: ColumnMode) {
    typealias Op = ColumnSpec.Op
    objectActor = RunLengthDecoder(columns[Op.objectActor], mode: mode)
    objectCounter = RunLengthDecoder(columns[Op.objectCounter], mode: mode)
    keyString = RunLengthDecoder(columns[Op.keyString], mode: mode)
    insert = BooleanDecoder(columns[Op.insert], mode: mode)
    actions = RunLengthDecoder(columns[Op.action], mode: mode)
    expands = BooleanDecoder(columns[Op.expand], mode: mode)
    markNames = RunLengthDecoder(columns[Op.markName], mode: mode)
  }

  var keyOffset: Int { keyString.offset }

  /// Whether the rows at the front may be typed text.
  var mayBeText: Bool { isInsert && action == .set && !expand && markName == nil && key == nil }

  /// Ensures that `count` is at least one; false at the end.
  @inline(__always)
  mutating func read() throws(FormatError) -> Bool { count > 0 ? true : try readNext() }

  private mutating func readNext() throws(FormatError) -> Bool {
    skipTaken()
    guard let run = try actions.peekRun() else { return false }
    guard let code = run.value else { throw .unexpectedNull(at: actions.offset) }
    guard code < 8, let action = OpAction(rawValue: UInt8(truncatingIfNeeded: code)) else {
      throw .invalid(.action, at: actions.offset)
    }
    self.action = action
    var count = run.count
    let actor = try objectActor.peekRun(), counter = try objectCounter.peekRun(), key = try keyString.peekRun()
    let mark = try markNames.peekRun(), expand = try expands.peekRun()
    guard let inserts = try insert.peekRun() else { throw .truncated(at: insert.offset) }
    count = min(count, actor?.count ?? count, counter?.count ?? count, key?.count ?? count)
    count = min(count, mark?.count ?? count, expand?.count ?? count, inserts.count)
    object = try objectId(actor?.value ?? nil, counter?.value ?? nil)
    self.key = key?.value ?? nil
    isInsert = inserts.value
    self.expand = expand?.value ?? false
    markName = mark?.value ?? nil
    self.count = count
    return true
  }

  private func objectId(_ actor: UInt64?, _ counter: UInt64?) throws(FormatError) -> OpRows.Id? {
    guard let counter, counter != 0 else { return nil }
    guard let actor, counter <= UInt32.max else { throw .invalid(.object, at: objectCounter.offset) }
    return OpRows.Id(actor: actor, counter: Int64(counter))
  }

  /// Consumes some of the `count` rows.
  @inline(__always)
  mutating func skip(_ rows: Int) {
    precondition(rows <= count, "the rows are there")
    count -= rows
    taken += rows
  }

  private mutating func skipTaken() {
    objectActor.skip(taken)
    objectCounter.skip(taken)
    keyString.skip(taken)
    insert.skip(taken)
    actions.skip(taken)
    expands.skip(taken)
    markNames.skip(taken)
    taken = 0
  }

  /// Throws if any column has more rows than the action column, which is at its end.
  mutating func expectEnd() throws(FormatError) {
    skipTaken()
    try objectActor.expectEnd()
    try objectCounter.expectEnd()
    try keyString.expectEnd()
    try insert.expectEnd()
    try expands.expectEnd()
    try markNames.expectEnd()
  }
}
