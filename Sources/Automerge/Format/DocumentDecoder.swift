/// Reads document chunks: builds the objects from the columns run by run, and the log from the objects.
///
/// Then writes the changes again, hashes them, and accepts the document only if this gives its heads.
enum DocumentDecoder {
  struct Loaded {
    let store: ObjectStore
    let log: RunLog
    let graph: ChangeGraph
    /// The heads that the document states. They are certain only for a verified document.
    let heads: [ChangeHash]
  }

  /// - Parameter isOwn: whether it was saved here, so that whatever it holds was accepted once
  static func decode(
    _ chunk: Chunk, verification: Verification = .immediate, isOwn: Bool = false
  ) throws(LoadError) -> Loaded {
    var budget = Int.max
    return try decode(
      chunk, verification: verification, inflating: &budget,
      opsAtMost: FormatLimits.denseOps(isOwn: isOwn) + 16 * chunk.body.count, isOwn: isOwn)
  }

  /// - Parameters:
  ///   - budget: how many bytes the columns may inflate to, and their repeated strings stand for, if this is less than is
  ///     allowed otherwise; reduced by what they did
  ///   - maximumOps: how many operations other than typing and deleting it may have
  ///   - isOwn: whether it was saved here, so that whatever it holds was accepted once
  static func decode(
    _ chunk: Chunk, verification: Verification = .immediate, inflating budget: inout Int,
    opsAtMost maximumOps: Int, isOwn: Bool = false
  ) throws(LoadError) -> Loaded {
    var reader = ByteReader(chunk.body)
    var tables: Tables
    do throws(FormatError) {
      tables = try readTables(&reader, &budget)
      if !isOwn {
        let repeated = try tables.changes.repeatedByteCount(ColumnSpec.Change.message)
        try FormatLimits.take(hashed: repeated.addingSaturating(try tables.ops.repeatedNameByteCount), from: &budget)
      }
    } catch {
      throw .format(error)
    }
    let bytes = TextBytes(), actors = ActorTable()
    for actor in tables.actors {
      guard actors.find(actor) == nil else { throw .format(.invalid(.actor, at: 0)) }
      _ = actors.index(of: actor)
    }
    let store = ObjectStore(bytes: bytes, actors: actors)
    do throws(FormatError) {
      var builder = ObjectBuilder(store: store, atMost: maximumOps)
      try builder.read(OpColumnReader(tables.ops, isDocument: true))
      tables.ops = ColumnSet()
    } catch {
      throw .format(error)
    }
    var log = LogBuilder(store: store)
    try log.collect()
    guard log.log.hasRoom(for: log.opCount) else { throw .inconsistentDocument(.size) }
    let rows: DocumentChanges
    do throws(FormatError) {
      rows = try DocumentChanges(
        tables.changes, actorCount: actors.count,
        limit: isOwn ? FormatLimits.rows : log.opCount + FormatLimits.emptyChanges + chunk.body.count)
    } catch {
      throw .format(error)
    }
    let graph = try log.distribute(rows)
    let loaded = Loaded(store: store, log: log.log, graph: graph, heads: tables.heads)
    return verification == .immediate ? try verified(loaded) : loaded
  }

  private struct Tables {
    let actors: [ActorId]
    let heads: [ChangeHash]
    let changes: ColumnSet
    /// Released once they are read, because the log is built then, which needs the most memory.
    var ops: ColumnSet
  }

  private static func readTables(_ reader: inout ByteReader, _ budget: inout Int) throws(FormatError) -> Tables {
    var actors: [ActorId] = []
    for _ in 0..<(try reader.count(itemByteCount: 1)) { actors.append(try reader.actor()) }
    let heads = try reader.hashes()
    let changeHead = try ColumnHeader(from: &reader, allowingDeflate: true)
    let opHead = try ColumnHeader(from: &reader, allowingDeflate: true)
    let allowed = min(budget, FormatLimits.inflatedByteCount(stored: reader.remaining))
    var left = allowed
    defer { budget -= allowed - left }
    let changes = try changeHead.readColumns(from: &reader, inflating: &left)
    let ops = try opHead.readColumns(from: &reader, inflating: &left)
    // Old writers omit the rows of the heads, which are not needed.
    if !reader.isAtEnd {
      for _ in heads { _ = try reader.uleb() }
      try reader.expectEnd()
    }
    return Tables(actors: actors, heads: heads, changes: changes, ops: ops)
  }

  /// Hashes the changes again. Heads may be in any order, because older cores did not sort them.
  private static func verified(_ loaded: Loaded) throws(LoadError) -> Loaded {
    let core = DocumentCore(actor: ActorId(bytes: []), store: loaded.store, log: loaded.log, graph: loaded.graph)
    guard core.heads == loaded.heads.sorted() else { throw .inconsistentDocument(.heads) }
    return Loaded(store: loaded.store, log: loaded.log, graph: core.graph, heads: loaded.heads)
  }
}

extension FormatLimits {
  /// How many more changes without operations a document may hold than it has bytes. A run-length encoded table could
  /// claim any number.
  static let emptyChanges = 1 << 17
}
