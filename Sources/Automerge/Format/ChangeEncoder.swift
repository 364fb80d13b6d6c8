/// A change without its operations.
struct ChangeHeader {
  /// In the change's own order.
  var deps: [ChangeHash]
  var actor: ActorId
  var seq: UInt64
  var startOp: UInt32
  var time: Int64
  var message: String?
  /// The bytes after the columns, preserved as they are.
  var extra: [UInt8] = []
}

/// Writes the body of a change chunk. Source: automerge-format, section 3.
enum ChangeEncoder {
  /// - Parameters:
  ///   - author: the author's index in the source's actors.
  ///   - runs: the change's operations, which point into the source.
  static func body(_ header: ChangeHeader, author: UInt32, runs: [OpRun], of source: borrowing some OpSource)
    -> [UInt8]
  {
    let actors = OtherActors(author: author, runs: runs, of: source)
    var writer = ByteWriter()
    writer.reserve(192)
    writer.hashes(header.deps)
    writer.actor(header.actor)
    writer.uleb(header.seq)
    writer.uleb(UInt64(header.startOp))
    writer.sleb(header.time)
    writer.string(header.message ?? "")
    writer.uleb(actors.sorted.count)
    for actor in actors.sorted { writer.actor(source.actorList[Int(actor)]) }
    var columns = ColumnWriter()
    if !runs.isEmpty {
      var table = OpColumnWriter(.change)
      var id = OpId(counter: header.startOp, actor: author)
      for run in runs {
        append(
          run, id: OpColumnWriter.Id(actor: 0, counter: Int64(id.counter)), to: &table, of: source,
          column: actors.column)
        id.counter += run.count
      }
      table.finish(into: &columns)
    }
    columns.writeHeader(to: &writer)
    columns.writeData(to: &writer)
    writer.raw(header.extra)
    return writer.bytes
  }

  /// Writes the rows of a run.
  /// - Parameters:
  ///   - id: the first operation's id.
  ///   - column: the form of an id in the table; nil for zero.
  static func append(
    _ run: OpRun, id: OpColumnWriter.Id, to table: inout OpColumnWriter, of source: borrowing some OpSource,
    column: (OpId) -> OpColumnWriter.Id?
  ) {
    let object = column(run.object), count = Int(run.count)
    switch run.kind {
    case .insertText:
      table.appendText(
        object: object, reference: column(run.target), id: id, count: count, utf8: source.text[run.textRange])
      table.appendSingles(nil, count: count, step: 0)
    case .deleteForward, .deleteBackward:
      guard let target = column(run.target) else { preconditionFailure("a deletion has a target") }
      table.appendDeletions(object: object, from: target, count: count, step: run.step)
    case .other:
      let op = source.others[Int(run.text)]
      var element: OpColumnWriter.Id?
      if case .element(let id) = op.key { element = column(id) }
      table.append(op, object: object, element: element)
      table.appendGroup(op.predecessors.compactMap { column($0) })
    }
  }
}

/// The actors besides the author that a change names, and their numbers in it.
private struct OtherActors {
  private let author: UInt32
  /// In the order of their bytes.
  private(set) var sorted: [UInt32] = []
  private var places: [UInt32: UInt64] = [:]

  init(author: UInt32, runs: [OpRun], of source: borrowing some OpSource) {
    self.author = author
    for run in runs {
      note(run.object)
      guard run.kind == .other else {
        note(run.target)
        continue
      }
      let op = source.others[Int(run.text)]
      if case .element(let id) = op.key { note(id) }
      for id in op.predecessors { note(id) }
    }
    guard !sorted.isEmpty else { return }
    let names = source.actorList
    sorted.sort { names[Int($0)] < names[Int($1)] }
    for (place, actor) in sorted.enumerated() { places[actor] = UInt64(place + 1) }
  }

  private mutating func note(_ id: OpId) {
    guard !id.isZero, id.actor != author, places[id.actor] == nil else { return }
    places[id.actor] = 0
    sorted.append(id.actor)
  }

  func column(_ id: OpId) -> OpColumnWriter.Id? {
    guard !id.isZero else { return nil }
    return OpColumnWriter.Id(actor: id.actor == author ? 0 : places[id.actor] ?? 0, counter: Int64(id.counter))
  }
}
