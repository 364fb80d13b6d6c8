/// The operations of a bundle, sorted by their ids. Actors are indices into the bundle's.
struct BundleRows {
  /// Rows with consecutive ids.
  struct Stretch {
    let id: OpId
    let rows: OpRows
  }

  /// By actor, then counter.
  private(set) var stretches: [Stretch] = []

  init(_ columns: ColumnSet, changes: [BundleChange], limit: Int) throws(FormatError) {
    let ids = try Self.ids(columns, changes: changes, limit: limit)
    var reader = try OpColumnReader(Self.asChangeColumns(columns, limit: limit), isDocument: false)
    let starts = Set(changes.map { OpId(counter: $0.startOp, actor: $0.actor) })
    // The ids of the rows before `end` are consecutive and belong to one change.
    var row = 0, end = 0
    while row < ids.count {
      let id = ids[row]
      if row == end {
        repeat { end += 1 } while end < ids.count && Self.follows(ids[end], ids[end - 1]) && !starts.contains(ids[end])
      }
      let first = OpRows.Id(actor: UInt64(id.actor), counter: Int64(id.counter))
      guard let rows = try reader.next(nextId: first, atMost: end - row) else {
        throw .rowCount(expected: ids.count, at: 0)
      }
      stretches.append(Stretch(id: id, rows: rows))
      row += rows.count
    }
    guard try reader.next(nextId: OpRows.Id(actor: 0, counter: 1)) == nil else {
      throw .rowCount(expected: ids.count, at: 0)
    }
    try reader.expectEnd()
    stretches.sort { ($0.id.actor, $0.id.counter) < ($1.id.actor, $1.id.counter) }
  }

  private static func follows(_ id: OpId, _ before: OpId) -> Bool {
    id.actor == before.actor && Int(id.counter) == Int(before.counter) + 1
  }

  /// The id of each row.
  private static func ids(
    _ columns: ColumnSet, changes: [BundleChange], limit: Int
  ) throws(FormatError) -> [OpId] {
    let count = try BundleChange.rowCount(columns[ColumnSpec.Op.action], limit: limit)
    guard changes.reduce(0, { $0 + $1.opCount }) == count else { throw .rowCount(expected: count, at: 0) }
    var ids = Array(repeating: OpId.zero, count: count)
    let rowColumn = columns[ColumnSpec.BundleOp.rowOfId]
    if rowColumn.isEmpty {
      // Older bundles store the counters explicitly.
      var actors = RunLengthDecoder<UInt64>(columns[ColumnSpec.Op.idActor], mode: .lenient)
      var counters = DeltaDecoder(columns[ColumnSpec.Op.idCounter], range: DeltaDecoder.counters, mode: .lenient)
      for row in ids.indices {
        let actor = try actors.nextValue(), counter = try counters.nextValue()
        guard let index = UInt32(exactly: actor), counter > 0 else { throw .invalid(.actor, at: actors.offset) }
        ids[row] = OpId(counter: UInt32(counter), actor: index)
      }
      try actors.expectEnd()
      try counters.expectEnd()
      return ids
    }
    var rows = DeltaDecoder(rowColumn, range: DeltaDecoder.counters, mode: .lenient)
    for change in changes.sorted(by: { ($0.actor, $0.seq) < ($1.actor, $1.seq) }) {
      for place in 0..<change.opCount {
        let row = try rows.nextValue()
        guard row < count, ids[Int(row)].isZero else { throw .invalid(.operationOrder, at: rows.offset) }
        ids[Int(row)] = OpId(counter: change.startOp + UInt32(place), actor: change.actor)
      }
    }
    try rows.expectEnd()
    var actors = RunLengthDecoder<UInt64>(columns[ColumnSpec.Op.idActor], mode: .lenient)
    for id in ids where try actors.nextValue() != UInt64(id.actor) { throw .invalid(.actor, at: actors.offset) }
    try actors.expectEnd()
    return ids
  }

  /// The columns as a change has them: without ids, and with the objects' counters not as differences.
  private static func asChangeColumns(_ columns: ColumnSet, limit: Int) throws(FormatError) -> ColumnSet {
    var counters = DeltaDecoder(
      columns[ColumnSpec.BundleOp.objectCounter], range: DeltaDecoder.counters, mode: .lenient, limit: limit)
    var encoder = RunLengthEncoder<UInt64>()
    while let run = try counters.nextRun() {
      guard let first = run.first else {
        encoder.appendNull(count: run.count)
        continue
      }
      guard run.step != 0 else {
        encoder.append(UInt64(first), count: run.count)
        continue
      }
      for place in 0..<run.count { encoder.append(UInt64(run.value(at: place) ?? 0)) }
    }
    var changed = columns
    changed.replace(ColumnSpec.BundleOp.objectCounter, by: ColumnSpec.Op.objectCounter, encoder.finishUnlessNull())
    changed.remove(ColumnSpec.Op.idActor)
    changed.remove(ColumnSpec.Op.idCounter)
    return changed
  }
}
