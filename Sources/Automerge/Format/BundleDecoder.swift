/// Reads bundles: several changes in one set of columns. Each change comes out with its exact bytes and hash.
///
/// Source: automerge-format, section 5. The changes are written as separate chunks, so that every check of a change
/// that came alone also applies to one that came in a bundle.
enum BundleDecoder {
  /// The changes of a bundle, each after those of the bundle that it depends on.
  /// - Complexity: O(n log n) in the operations, whose number is bounded by the chunk's size
  static func decode(_ chunk: Chunk) throws(LoadError) -> [DecodedChange] {
    var budget = Int.max
    return try decode(chunk, inflating: &budget)
  }

  /// - Parameter budget: how many bytes the columns may inflate to, and the changes may take, if this is less than is allowed
  ///   otherwise; reduced by what they did
  static func decode(_ chunk: Chunk, inflating budget: inout Int) throws(LoadError) -> [DecodedChange] {
    var decoded: [DecodedChange] = []
    for change in try changeChunks(chunk, &budget) { decoded.append(try ChangeDecoder.decode(change)) }
    return decoded
  }

  private static func changeChunks(_ chunk: Chunk, _ budget: inout Int) throws(LoadError) -> [Chunk] {
    do throws(FormatError) {
      let tables = try readTables(chunk, &budget)
      let limit = FormatLimits.bundleOps + 16 * chunk.body.count
      let repeated = try tables.changes.repeatedByteCount(ColumnSpec.BundleChange.message)
      try FormatLimits.take(repeated.addingSaturating(try tables.ops.repeatedNameByteCount), from: &budget)
      let changes = try BundleChange.read(
        tables.changes, actorCount: tables.actors.count, externalCount: tables.external.count, limit: limit)
      try FormatLimits.take(changes.count * FormatLimits.bundleChangeByteCount, from: &budget)
      let rows = try BundleRows(tables.ops, changes: changes, limit: limit)
      return try BundleWriter(actors: tables.actors, external: tables.external, changes: changes, rows: rows)
        .chunks(taking: &budget)
    } catch {
      throw .format(error)
    }
  }

  private struct Tables {
    let external: [ChangeHash]
    let actors: [ActorId]
    let changes: ColumnSet
    let ops: ColumnSet
  }

  private static func readTables(_ chunk: Chunk, _ budget: inout Int) throws(FormatError) -> Tables {
    var reader = ByteReader(chunk.body)
    let external = try reader.hashes()
    var actors: [ActorId] = []
    for _ in 0..<(try reader.count(itemByteCount: 1)) { actors.append(try reader.actor()) }
    let allowed = min(budget, FormatLimits.inflatedByteCount(stored: reader.remaining))
    var left = allowed
    defer { budget -= allowed - left }
    // Unlike in a document, each list is followed directly by its own data.
    let changes = try ColumnHeader(from: &reader, allowingDeflate: true, allowingGroupedValues: true)
      .readColumns(from: &reader, inflating: &left)
    let ops = try ColumnHeader(from: &reader, allowingDeflate: true).readColumns(from: &reader, inflating: &left)
    try reader.expectEnd()
    // The content of an unknown column would be missing from the changes, and so from their hashes.
    for unknown in changes.unknown(besides: ColumnSpec.BundleChange.known) { throw .unknownColumn(unknown.rawValue) }
    for unknown in ops.unknown(besides: ColumnSpec.BundleOp.known) { throw .unknownColumn(unknown.rawValue) }
    return Tables(external: external, actors: actors, changes: changes, ops: ops)
  }
}

extension FormatLimits {
  /// How many more operations or changes a bundle may hold than sixteen for each of its bytes. Run-length encoded
  /// columns could claim any number of them.
  static let bundleOps = 65_536
  /// What a change of a bundle counts: it is written as a chunk of its own, and decoded. What this does not cover, apart from
  /// text and messages, counts as well: a bundle names each dependency and actor by a number, and a change by up to 128 bytes.
  static let bundleChangeByteCount = 512
}

extension ColumnSpec {
  /// Columns of a bundle's changes. Source: automerge-format, section 5.
  enum BundleChange {
    static let actor = ColumnSpec(0, .actor)
    static let sequence = ColumnSpec(0, .delta)
    static let startOp = ColumnSpec(1, .delta)
    static let maxOp = ColumnSpec(2, .delta)
    static let time = ColumnSpec(3, .delta)
    static let message = ColumnSpec(4, .string)
    static let dependencyCount = ColumnSpec(5, .group)
    static let dependencyIndex = ColumnSpec(5, .delta)
    /// Plain byte counts, without a type code.
    static let extraByteCount = ColumnSpec(6, .group)
    /// The same column under another name.
    static let extraByteCountAsMetadata = ColumnSpec(6, .valueMetadata)
    static let extraRaw = ColumnSpec(6, .valueRaw)

    static let known: Set<ColumnSpec> = [
      actor, sequence, startOp, maxOp, time, message, dependencyCount, dependencyIndex, extraByteCount,
      extraByteCountAsMetadata, extraRaw,
    ]
  }

  /// Columns of a bundle's operations that a change does not have. Source: automerge-format, section 5.
  enum BundleOp {
    static let objectCounter = ColumnSpec(0, .delta)
    /// For each operation, in the order of their ids, its row.
    static let rowOfId = ColumnSpec(11, .delta)

    static let known: Set<ColumnSpec> =
      OpColumnReader.known(isDocument: false).subtracting([Op.objectCounter])
      .union([objectCounter, Op.idActor, Op.idCounter, rowOfId])
  }
}
