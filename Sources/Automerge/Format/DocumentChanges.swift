/// A document's table of changes.
///
/// Typing makes many changes that differ only in their numbers; they are read as one stretch.
struct DocumentChanges {
  /// A change and the ones after it that are like it, each of which depends only on the one before it.
  struct Stretch: BitwiseCopyable {
    let firstRow: UInt32
    let actor: UInt32
    let seq: UInt32
    let maxOp: UInt32
    /// The difference between one change's last operation and that of the change before.
    var maxOpStep: UInt32 = 0
    var count: UInt32 = 1
    /// Its first dependency in `deps`; its last one is before the next stretch's first.
    let firstDep: UInt32
    let time: Int64
  }

  private(set) var stretches: [Stretch] = []
  private var deps: [UInt32] = []
  /// Only of rows that have a message.
  private(set) var messages: [Int: String] = [:]
  private(set) var extras: [Int: [UInt8]] = [:]

  /// The rows that a stretch's first change depends on.
  func deps(ofStretch place: Int) -> ArraySlice<UInt32> {
    let end = place + 1 < stretches.count ? Int(stretches[place + 1].firstDep) : deps.count
    return deps[Int(stretches[place].firstDep)..<end]
  }

  init(_ columns: ColumnSet, actorCount: Int, limit: Int) throws(FormatError) {
    var actor = RunLengthDecoder<UInt64>(columns[ColumnSpec.Change.actor], mode: .lenient)
    var columns = Columns(columns)
    var count = 0
    while let run = try actor.nextRun() {
      guard let index = run.value, index < UInt64(actorCount), run.count <= limit - count else {
        throw .invalid(.actor, at: 0)
      }
      let end = count + run.count
      while count < end {
        let firstDep = deps.count
        try readDeps(&columns, row: count, limit: limit)
        if let words = try columns.message.next().flatMap({ $0 }) { messages[count] = words }
        if let bytes = try columns.extra.nextRun(atMost: 1), !bytes.bytes.isEmpty || bytes.code != RawValue.Code.bytes {
          extras[count] = try bytes.value(at: 0).bytes
        }
        // The decoders of counters return nothing that does not fit in 32 bits.
        var stretch = Stretch(
          firstRow: UInt32(count), actor: UInt32(index), seq: UInt32(try columns.sequence.nextValue()),
          maxOp: UInt32(try columns.maxOp.nextValue()), firstDep: UInt32(firstDep),
          time: try columns.time.next().flatMap { $0 } ?? 0)
        try columns.takeAlike(&stretch, atMost: end - count - 1)
        count += Int(stretch.count)
        stretches.append(stretch)
      }
    }
    try columns.expectEnd()
  }

  private mutating func readDeps(_ columns: inout Columns, row: Int, limit: Int) throws(FormatError) {
    let first = deps.count
    let count = try columns.depCount.next().flatMap { $0 } ?? 0
    guard count <= UInt64(row), Int(count) <= 16 * limit - first, first < Int(Int32.max) else {
      throw .invalid(.dependency, at: 0)
    }
    for _ in 0..<count {
      // A dependency comes before the changes that depend on it.
      let dep = try columns.depIndex.nextValue()
      guard dep < row else { throw .invalid(.dependency, at: 0) }
      deps.append(UInt32(dep))
    }
    guard count < 2 || Set(deps[first...]).count == Int(count) else { throw .invalid(.dependency, at: 0) }
  }
}

/// The columns of a document's table of changes, without the actors.
private struct Columns {
  var sequence: DeltaDecoder
  var maxOp: DeltaDecoder
  var time: DeltaDecoder
  var message: RunLengthDecoder<String>
  var depCount: RunLengthDecoder<UInt64>
  var depIndex: DeltaDecoder
  var extra: ValueDecoder

  init(_ columns: ColumnSet) {
    typealias Column = ColumnSpec.Change
    sequence = DeltaDecoder(columns[Column.sequence], range: DeltaDecoder.counters, mode: .lenient)
    maxOp = DeltaDecoder(columns[Column.maxOp], range: DeltaDecoder.counters, mode: .lenient)
    time = DeltaDecoder(columns[Column.time], range: DeltaDecoder.anything, mode: .lenient)
    message = RunLengthDecoder<String>(columns[Column.message], mode: .lenient)
    depCount = RunLengthDecoder<UInt64>(columns[Column.dependencyCount], mode: .lenient)
    depIndex = DeltaDecoder(columns[Column.dependencyIndex], range: DeltaDecoder.counters, mode: .lenient)
    extra = ValueDecoder(metadata: columns[Column.extraMetadata], raw: columns[Column.extraRaw], mode: .lenient)
  }

  /// Extends a stretch of one row by the rows that come next, as far as the run at the front of each column shows that
  /// they are like it. Leaves all other rows to be read one by one.
  mutating func takeAlike(_ stretch: inout DocumentChanges.Stretch, atMost limit: Int) throws(FormatError) {
    guard limit > 0, let numbers = try sequence.peekRun(), numbers.first == Int64(stretch.seq) + 1,
      numbers.step == 1, let ops = try maxOp.peekRun(), let firstOp = ops.first,
      let step = UInt32(exactly: firstOp - Int64(stretch.maxOp)), ops.count == 1 || ops.step == Int64(step),
      let counts = try depCount.peekRun(), counts.value == 1,
      let indices = try depIndex.peekRun(), indices.first == Int64(stretch.firstRow), indices.step == 1
    else { return }
    var more = min(limit, numbers.count, ops.count, counts.count, indices.count)
    // These columns may be omitted if they contain nothing.
    if let times = try time.peekRun() {
      more = times.first == stretch.time && (times.step == 0 || times.count == 1) ? min(more, times.count) : 0
    } else if stretch.time != 0 {
      more = 0
    }
    if let messages = try message.peekRun() { more = messages.value == nil ? min(more, messages.count) : 0 }
    more = min(more, try extra.emptyRows())
    guard more > 0 else { return }
    stretch.maxOpStep = step
    stretch.count += UInt32(more)
    sequence.skip(more)
    maxOp.skip(more)
    depCount.skip(more)
    depIndex.skip(more)
    _ = try time.nextRun(atMost: more)
    _ = try message.nextRun(atMost: more)
    _ = try extra.nextRun(atMost: more)
  }

  mutating func expectEnd() throws(FormatError) {
    try sequence.expectEnd()
    try maxOp.expectEnd()
    try time.expectEnd()
    try message.expectEnd()
    try depCount.expectEnd()
    try depIndex.expectEnd()
  }
}
