/// Writes bundles: several changes of a document in one set of columns. Source: automerge-format, section 5.
///
/// The rows are in the order of their ids, by actor. The format allows any order; the reference core writes another
/// one.
struct BundleEncoder {
  private let core: DocumentCore
  /// Ascending.
  private let rows: [Int]
  /// The bundle's actors in the order of their bytes, and for each actor index its place among them.
  private let actors: [UInt32]
  private let places: [UInt32: UInt64]

  /// As many chunks as needed, so that readers which bound the size of an inflated bundle accept them. A change that is
  /// too large for a bundle becomes a chunk of its own.
  /// - Parameter rows: the rows of the changes, ascending; the changes have their hashes
  static func chunks(of rows: [Int], in core: DocumentCore) -> [UInt8] {
    var bytes: [UInt8] = [], open: [Int] = [], opCount = 0
    func close() {
      if open.count == 1 { bytes += core.chunk(ofRow: open[0]) }
      if open.count > 1 { bytes += BundleEncoder(open, in: core).chunk() }
      (open, opCount) = ([], 0)
    }
    for row in rows {
      let count = Int(core.graph.records[row].opCount)
      if opCount + count > FormatLimits.bundleOps || open.count == FormatLimits.bundleOps { close() }
      open.append(row)
      opCount += count
    }
    close()
    return bytes
  }

  private init(_ rows: [Int], in core: DocumentCore) {
    (self.core, self.rows) = (core, rows)
    var used: Set<UInt32> = []
    func note(_ id: OpId) { if !id.isZero { used.insert(id.actor) } }
    for row in rows {
      let record = core.graph.records[row]
      used.insert(record.actor)
      core.log.forEachRun(in: record.ops) { run, _ in
        note(run.object)
        guard run.kind == .other else { return note(run.target) }
        let op = core.log.others[Int(run.text)]
        if case .element(let id) = op.key { note(id) }
        op.predecessors.forEach(note)
      }
    }
    actors = core.actors.sorted.filter(used.contains)
    places = Dictionary(uniqueKeysWithValues: actors.enumerated().map { ($1, UInt64($0)) })
  }

  private func chunk() -> [UInt8] {
    let external = externalDeps(), changes = changeColumns(external), ops = opColumns()
    var writer = ByteWriter()
    writer.hashes(external.map { core.graph.hashes[$0] })
    writer.uleb(actors.count)
    for actor in actors { writer.actor(core.actors[actor]) }
    changes.writeHeader(to: &writer)
    changes.writeData(to: &writer)
    ops.writeHeader(to: &writer)
    ops.writeData(to: &writer)
    return Chunk.encode(.bundle, body: writer.bytes).bytes
  }

  /// The rows outside of the bundle that its changes depend on, in the order of their hashes.
  private func externalDeps() -> [Int] {
    let own = Set(rows)
    let deps = Set(rows.flatMap { core.graph.deps(of: $0).map(Int.init) }).subtracting(own)
    return deps.sorted { core.graph.hashes[$0] < core.graph.hashes[$1] }
  }

  private func changeColumns(_ external: [Int]) -> ColumnWriter {
    typealias Column = ColumnSpec.BundleChange
    let graph = core.graph
    var placeOfRow = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1, $0) })
    for (place, row) in external.enumerated() { placeOfRow[row] = rows.count + place }
    var actor = RunLengthEncoder<UInt64>(), sequence = DeltaEncoder(), startOp = DeltaEncoder(), maxOp = DeltaEncoder()
    var time = DeltaEncoder(), message = RunLengthEncoder<String>()
    var depCount = RunLengthEncoder<UInt64>(), depIndex = DeltaEncoder()
    var extraByteCount = RunLengthEncoder<UInt64>(), extra: [UInt8] = []
    for row in rows {
      let record = graph.records[row], deps = graph.deps(of: row), bytes = graph.extras[row] ?? []
      actor.append(places[record.actor] ?? 0)
      sequence.append(Int64(record.seq))
      startOp.append(Int64(record.startOp))
      maxOp.append(Int64(record.startOp) + Int64(record.opCount) - 1)
      time.append(record.time)
      message.append(graph.messages[row])
      depCount.append(UInt64(deps.count))
      for dep in deps { depIndex.append(Int64(placeOfRow[Int(dep)] ?? 0)) }
      extraByteCount.append(UInt64(bytes.count))
      extra += bytes
    }
    var columns = ColumnWriter(deflating: true)
    columns.append(Column.actor, actor.finish())
    columns.append(Column.sequence, sequence.finish())
    columns.append(Column.startOp, startOp.finish())
    columns.append(Column.maxOp, maxOp.finish())
    columns.append(Column.time, time.finish())
    columns.append(Column.message, message.finishUnlessNull())
    columns.append(Column.dependencyCount, depCount.finish())
    columns.append(Column.dependencyIndex, depIndex.finish())
    columns.append(Column.extraByteCountAsMetadata, extraByteCount.finish())
    columns.append(Column.extraRaw, extra)
    return columns
  }

  private func opColumns() -> ColumnWriter {
    let graph = core.graph
    var columns = ColumnWriter(deflating: true), table = OpColumnWriter(.bundle), count = 0
    let ordered = rows.sorted {
      let (one, other) = (graph.records[$0], graph.records[$1])
      return (places[one.actor] ?? 0, one.seq) < (places[other.actor] ?? 0, other.seq)
    }
    for row in ordered {
      let record = graph.records[row]
      var id = OpId(counter: record.startOp, actor: record.actor)
      for run in core.log.runs(in: record.ops) {
        guard let first = column(id) else { preconditionFailure("an operation has an id") }
        ChangeEncoder.append(run, id: first, to: &table, of: core.log, column: column)
        table.appendIds(first, count: Int(run.count))
        id.counter += run.count
      }
      count += Int(record.opCount)
    }
    guard count > 0 else { return columns }
    table.finish(into: &columns)
    var rowOfId = DeltaEncoder()
    rowOfId.appendAscending(0, count: count)
    columns.append(ColumnSpec.BundleOp.rowOfId, rowOfId.finish())
    return columns
  }

  private func column(_ id: OpId) -> OpColumnWriter.Id? {
    id.isZero ? nil : OpColumnWriter.Id(actor: places[id.actor] ?? 0, counter: Int64(id.counter))
  }
}
