/// Writes a document chunk. Source: automerge-format, section 4.
struct DocumentEncoder {
  private let core: DocumentCore
  /// Actor indices of the document in the order of the actors' bytes; only those that own a change.
  private let actors: [UInt32]
  /// For each actor index its place in `actors`.
  private var places: [UInt64]

  /// The document's changes must have their hashes, and no transaction may be pending.
  private init(_ core: DocumentCore) {
    self.core = core
    actors = core.actors.sorted.filter { core.graph.lastRow(of: $0) != nil }
    places = Array(repeating: 0, count: core.actors.count)
    for (place, actor) in actors.enumerated() { places[Int(actor)] = UInt64(place) }
  }

  /// - Parameter deflating: whether long columns are deflated, as in every saved file
  static func chunk(_ core: DocumentCore, deflating: Bool = true) -> [UInt8] {
    core.commitPending()
    core.computeHashes()
    return DocumentEncoder(core).chunk(deflating: deflating)
  }

  private func chunk(deflating: Bool) -> [UInt8] {
    let graph = core.graph
    var writer = ByteWriter()
    writer.uleb(actors.count)
    for actor in actors { writer.actor(core.actors[actor]) }
    let heads = graph.heads.map { (hash: graph.hashes[Int($0)], row: $0) }.sorted { $0.hash < $1.hash }
    writer.hashes(heads.map(\.hash))
    let changes = changeColumns(deflating: deflating), ops = opColumns(deflating: deflating)
    changes.writeHeader(to: &writer)
    ops.writeHeader(to: &writer)
    changes.writeData(to: &writer)
    ops.writeData(to: &writer)
    for head in heads { writer.uleb(UInt64(head.row)) }
    return Chunk.encode(.document, body: writer.bytes).bytes
  }

  private func changeColumns(deflating: Bool) -> ColumnWriter {
    typealias Column = ColumnSpec.Change
    let graph = core.graph
    var columns = ColumnWriter(deflating: deflating)
    guard graph.count > 0 else { return columns }
    var actor = RunLengthEncoder<UInt64>(), sequence = DeltaEncoder(), maxOp = DeltaEncoder(), time = DeltaEncoder()
    var message = RunLengthEncoder<String>(), depCount = RunLengthEncoder<UInt64>(), depIndex = DeltaEncoder()
    var extra = ValueEncoder()
    var row = 0
    while row < graph.count {
      // Typing makes many changes that differ only in their numbers.
      let end = graph.endOfStretch(from: row), record = graph.records[row], count = end - row
      actor.append(places[Int(record.actor)], count: count)
      sequence.appendAscending(Int64(record.seq), count: count)
      maxOp.appendAscending(Int64(record.maxOp), count: count, step: Int64(record.opCount))
      time.appendAscending(record.time, count: count, step: 0)
      let deps = graph.deps(of: row)
      depCount.append(UInt64(deps.count))
      for dep in deps { depIndex.append(Int64(dep)) }
      depCount.append(1, count: count - 1)
      depIndex.appendAscending(Int64(row), count: count - 1)
      if graph.messages.isEmpty {
        message.appendNull(count: count)
      } else {
        for each in row..<end { message.append(graph.messages[each]) }
      }
      if graph.extras.isEmpty {
        extra.appendNoBytes(count: count)
      } else {
        for each in row..<end { extra.append(RawValue(bytes: graph.extras[each] ?? [])) }
      }
      row = end
    }
    columns.append(Column.actor, actor.finish())
    columns.append(Column.sequence, sequence.finish())
    columns.append(Column.maxOp, maxOp.finish())
    columns.append(Column.time, time.finish())
    columns.append(Column.message, message.finishUnlessNull())
    columns.append(Column.dependencyCount, depCount.finish())
    columns.append(Column.dependencyIndex, depIndex.finish())
    let extras = extra.finish()
    columns.append(Column.extraMetadata, extras.metadata)
    columns.append(Column.extraRaw, extras.raw)
    return columns
  }

  private func opColumns(deflating: Bool) -> ColumnWriter {
    var columns = ColumnWriter(deflating: deflating)
    guard core.graph.records.contains(where: { $0.opCount > 0 }) else { return columns }
    var table = OpColumnWriter(.document)
    for object in core.store.sortedIds {
      switch core.store[object] {
      case .map(let map):
        for (key, slot) in map.sortedSlots {
          for op in slot.ops { append(op, object: object, key: .map(key), isInsert: false, to: &table) }
        }
      case .sequence(let tree):
        tree.forEachRun { append($0, of: tree, object: object, to: &table) }
      case nil: break
      }
    }
    table.finish(into: &columns)
    return columns
  }

  private func append(_ run: TextRun, of tree: TextTree, object: OpId, to table: inout OpColumnWriter) {
    guard !run.isIrregular else {
      for (place, op) in tree.slots[Int(run.text)].slot.ops.enumerated() {
        append(op, object: object, key: .element(place == 0 ? run.origin : run.id), isInsert: place == 0, to: &table)
      }
      return
    }
    guard let id = column(run.id) else { preconditionFailure("a run has an id") }
    let count = Int(run.count)
    table.appendText(
      object: column(object), reference: column(run.origin), id: id, count: count,
      utf8: core.bytes.bytes[run.textStart..<run.textEnd])
    table.appendIds(id, count: count)
    table.appendSingles(column(run.deletion), count: count, step: Int(run.step))
  }

  private func append(
    _ op: StoredOp, object: OpId, key: OtherOp.Key, isInsert: Bool, to table: inout OpColumnWriter
  ) {
    var element: OpColumnWriter.Id?
    if case .element(let id) = key { element = column(id) }
    let row = OtherOp(
      object: object, key: key, isInsert: isInsert, action: op.action, value: op.value, expand: op.expand,
      markName: op.markName, predecessors: [])
    table.append(row, object: column(object), element: element)
    if let id = column(op.id) { table.appendIds(id, count: 1) }
    table.appendGroup(op.successors.compactMap { column($0) })
  }

  private func column(_ id: OpId) -> OpColumnWriter.Id? {
    id.isZero ? nil : OpColumnWriter.Id(actor: places[Int(id.actor)], counter: Int64(id.counter))
  }
}

extension RawValue {
  /// Bytes as a value.
  init(bytes: [UInt8]) { self = RawValue(.Bytes(.init(bytes))) }
}
