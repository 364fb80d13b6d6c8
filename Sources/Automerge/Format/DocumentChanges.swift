/// A document's table of changes.
struct DocumentChanges {
  struct Row: BitwiseCopyable {
    let actor: UInt32
    let seq: UInt32
    let maxOp: UInt32
    /// Its first dependency in `deps`; the last one is before the next row's first.
    let firstDep: UInt32
    let time: Int64
  }

  private(set) var rows: [Row] = []
  private var deps: [UInt32] = []
  /// Only of rows that have any.
  private(set) var messages: [Int: String] = [:]
  private(set) var extras: [Int: [UInt8]] = [:]

  func deps(of row: Int) -> ArraySlice<UInt32> {
    deps[Int(rows[row].firstDep)..<(row + 1 < rows.count ? Int(rows[row + 1].firstDep) : deps.count)]
  }

  init(_ columns: ColumnSet, actorCount: Int, limit: Int) throws(FormatError) {
    typealias Column = ColumnSpec.Change
    var actor = RunLengthDecoder<UInt64>(columns[Column.actor], mode: .lenient)
    var sequence = DeltaDecoder(columns[Column.sequence], range: DeltaDecoder.counters, mode: .lenient)
    var maxOp = DeltaDecoder(columns[Column.maxOp], range: DeltaDecoder.counters, mode: .lenient)
    var time = DeltaDecoder(columns[Column.time], range: DeltaDecoder.anything, mode: .lenient)
    var message = RunLengthDecoder<String>(columns[Column.message], mode: .lenient)
    var depCount = RunLengthDecoder<UInt64>(columns[Column.dependencyCount], mode: .lenient)
    var depIndex = DeltaDecoder(columns[Column.dependencyIndex], range: DeltaDecoder.counters, mode: .lenient)
    var extra = ValueDecoder(metadata: columns[Column.extraMetadata], raw: columns[Column.extraRaw], mode: .lenient)
    // The decoders of counters give nothing that does not fit 32 bits.
    while let run = try actor.nextRun() {
      guard let index = run.value, index < UInt64(actorCount), run.count <= limit - rows.count else {
        throw .invalid(.actor, at: 0)
      }
      for _ in 0..<run.count {
        let firstDep = deps.count
        let count = try depCount.next().flatMap { $0 } ?? 0
        guard count <= UInt64(rows.count), Int(count) <= 16 * limit - deps.count, firstDep < Int(Int32.max) else {
          throw .invalid(.dependency, at: 0)
        }
        for _ in 0..<count {
          // Deps come before what depends on them.
          let dep = try depIndex.nextValue()
          guard dep < rows.count else { throw .invalid(.dependency, at: 0) }
          deps.append(UInt32(dep))
        }
        guard count < 2 || Set(deps[firstDep...]).count == Int(count) else { throw .invalid(.dependency, at: 0) }
        if let words = try message.next().flatMap({ $0 }) { messages[rows.count] = words }
        if let bytes = try extra.nextRun(atMost: 1), !bytes.bytes.isEmpty || bytes.code != RawValue.Code.bytes {
          extras[rows.count] = try bytes.value(at: 0).bytes
        }
        rows.append(
          Row(
            actor: UInt32(index), seq: UInt32(try sequence.nextValue()), maxOp: UInt32(try maxOp.nextValue()),
            firstDep: UInt32(firstDep), time: try time.next().flatMap { $0 } ?? 0))
      }
    }
    try sequence.expectEnd()
    try maxOp.expectEnd()
    try time.expectEnd()
    try message.expectEnd()
    try depCount.expectEnd()
    try depIndex.expectEnd()
  }
}
