/// A row of a bundle's table of changes.
struct BundleChange {
  let actor: UInt32
  let seq: Int64
  let startOp: UInt32
  let opCount: Int
  let time: Int64
  let message: String?
  /// Rows of the bundle; greater numbers are indices, after those, into the hashes at the bundle's front.
  let deps: [Int]
  let extra: ArraySlice<UInt8>

  /// - Parameter limit: the most changes, and the most operations or deps in all, that are accepted
  static func read(
    _ columns: ColumnSet, actorCount: Int, externalCount: Int, limit: Int
  ) throws(FormatError) -> [BundleChange] {
    typealias Column = ColumnSpec.BundleChange
    let counters = DeltaDecoder.counters
    var actor = RunLengthDecoder<UInt64>(columns[Column.actor], mode: .lenient)
    var sequence = DeltaDecoder(columns[Column.sequence], range: counters, mode: .lenient)
    var startOp = DeltaDecoder(columns[Column.startOp], range: counters, mode: .lenient)
    var maxOp = DeltaDecoder(columns[Column.maxOp], range: counters, mode: .lenient)
    var time = DeltaDecoder(columns[Column.time], range: DeltaDecoder.anything, mode: .lenient)
    var message = RunLengthDecoder<String>(columns[Column.message], mode: .lenient)
    var depCount = RunLengthDecoder<UInt64>(columns[Column.dependencyCount], mode: .lenient)
    var depIndex = DeltaDecoder(columns[Column.dependencyIndex], range: counters, mode: .lenient)
    let plain = columns[Column.extraByteCount]
    let extraByteCounts = plain.isEmpty ? columns[Column.extraByteCountAsMetadata] : plain
    var extraCount = RunLengthDecoder<UInt64>(extraByteCounts, mode: .lenient)
    var extra = ByteReader(columns[Column.extraRaw])
    var changes: [BundleChange] = [], opTotal = 0, depTotal = 0
    let count = try rowCount(columns[Column.actor], limit: limit)
    while let next = try actor.next() {
      guard let author = next, author < UInt64(actorCount) else { throw .invalid(.actor, at: actor.offset) }
      let first = try startOp.nextValue(), last = try maxOp.nextValue()
      guard first > 0, last >= first - 1, last < Int64(UInt32.max) else { throw .invalid(.startOp, at: startOp.offset) }
      opTotal += Int(last - first + 1)
      var deps: [Int] = []
      let links = try depCount.next().flatMap { $0 } ?? 0
      guard links <= UInt64(limit - depTotal), opTotal <= limit else { throw .tooMany(limit: limit, at: 0) }
      depTotal += Int(links)
      for _ in 0..<links {
        let dep = try depIndex.nextValue()
        guard dep < count + externalCount else { throw .invalid(.dependency, at: depIndex.offset) }
        deps.append(Int(dep))
      }
      let extraBytes = try extraCount.next().flatMap { $0 } ?? 0
      guard let extraByteCount = Int(exactly: extraBytes) else { throw .integerTooLarge(at: extraCount.offset) }
      changes.append(
        BundleChange(
          actor: UInt32(author), seq: try sequence.nextValue(), startOp: UInt32(first), opCount: Int(last - first + 1),
          time: try time.next().flatMap { $0 } ?? 0, message: try message.next().flatMap { $0 }, deps: deps,
          extra: try extra.bytes(count: extraByteCount)))
    }
    try sequence.expectEnd()
    try startOp.expectEnd()
    try maxOp.expectEnd()
    try time.expectEnd()
    try message.expectEnd()
    try depCount.expectEnd()
    try depIndex.expectEnd()
    try extraCount.expectEnd()
    try extra.expectEnd()
    return changes
  }

  /// The number of rows of a column, counted run by run.
  static func rowCount(_ column: ArraySlice<UInt8>, limit: Int) throws(FormatError) -> Int {
    var runs = RunLengthDecoder<UInt64>(column, mode: .lenient, limit: limit), count = 0
    while let run = try runs.nextRun() { count += run.count }
    return count
  }
}
