import Foundation

@testable import Automerge

/// Chunks in which columns of a few bytes claim very many rows.
enum ForgedChunk {
  /// A sync message with these chunks.
  static func message(of chunks: [[UInt8]]) -> Data {
    var message = SyncMessage()
    message.changes = chunks.map { $0[...] }
    return Data(message.encoded)
  }

  /// A column with the same value in each row.
  static func column<Item: RunItem>(_ value: Item, count: Int) -> [UInt8] {
    var encoder = RunLengthEncoder<Item>()
    encoder.append(value, count: count)
    return encoder.finish()
  }

  private static func delta(_ first: Int64, step: Int64 = 0, count: Int) -> [UInt8] {
    var writer = ByteWriter()
    // The first value is a difference from zero.
    writer.sleb(-1)
    writer.sleb(first)
    if count > 1 {
      writer.sleb(Int64(count - 1))
      writer.sleb(step)
    }
    return writer.bytes
  }

  /// A document of empty changes, all of which have the same message.
  static func document(changes count: Int, message: String? = nil) -> [UInt8] {
    var columns = ColumnWriter(deflating: true)
    columns.append(ColumnSpec.Change.actor, column(UInt64(0), count: count))
    columns.append(ColumnSpec.Change.sequence, delta(1, step: 1, count: count))
    columns.append(ColumnSpec.Change.maxOp, delta(0, count: count))
    columns.append(ColumnSpec.Change.time, delta(0, count: count))
    if let message { columns.append(ColumnSpec.Change.message, column(message, count: count)) }
    columns.append(ColumnSpec.Change.dependencyCount, column(UInt64(0), count: count))
    var writer = ByteWriter()
    writer.uleb(1)
    writer.actor(ActorId(bytes: [0xaa]))
    writer.hashes([])
    columns.writeHeader(to: &writer)
    writer.uleb(0)
    columns.writeData(to: &writer)
    return Chunk.encode(.document, body: writer.bytes).bytes
  }

  /// The same as a bundle. Each change depends on all of some changes that are not in it.
  static func bundle(changes count: Int, message: String, deps: [ChangeHash] = []) -> Chunk {
    typealias Column = ColumnSpec.BundleChange
    var columns = ColumnWriter()
    columns.append(Column.actor, column(UInt64(0), count: count))
    columns.append(Column.sequence, delta(1, step: 1, count: count))
    columns.append(Column.startOp, delta(1, count: count))
    columns.append(Column.maxOp, delta(0, count: count))
    columns.append(Column.time, delta(0, count: count))
    columns.append(Column.message, column(message, count: count))
    columns.append(Column.dependencyCount, column(UInt64(deps.count), count: count))
    if !deps.isEmpty {
      var indices = DeltaEncoder()
      for _ in 0..<count { for place in deps.indices { indices.append(Int64(count + place)) } }
      columns.append(Column.dependencyIndex, indices.finish())
    }
    var writer = ByteWriter()
    writer.hashes(deps)
    writer.uleb(1)
    writer.actor(ActorId(bytes: [0xaa]))
    columns.writeHeader(to: &writer)
    columns.writeData(to: &writer)
    writer.uleb(0)
    return Chunk(kind: .bundle, body: writer.bytes[...], hash: Chunk.hash(.bundle, body: writer.bytes))
  }

  /// An empty change that depends on one that never comes.
  static func orphan(_ number: Int) -> [UInt8] {
    var body = ByteWriter()
    body.uleb(1)
    body.raw(Array(repeating: 9, count: 32))
    body.lengthPrefixed(Array(repeating: 7, count: 16))
    body.uleb(UInt64(number + 1))
    body.uleb(UInt64(number + 1))
    body.sleb(0)
    body.lengthPrefixed([])
    body.uleb(0)
    body.uleb(0)
    return Chunk.encode(.change, body: body.bytes).bytes
  }

  /// A change that puts null, or with another action a new object, at one key again and again.
  static func change(puts count: Int, key: String, actor: UInt8 = 0xaa, action: OpAction = .set) -> [UInt8] {
    var columns = ColumnWriter()
    columns.append(ColumnSpec.Op.keyString, column(key, count: count))
    var rows = ByteWriter()
    rows.uleb(count)
    columns.append(ColumnSpec.Op.insert, rows.bytes)
    columns.append(ColumnSpec.Op.action, column(UInt64(action.rawValue), count: count))
    columns.append(ColumnSpec.Op.valueMetadata, column(UInt64(RawValue.Code.null), count: count))
    columns.append(ColumnSpec.Op.predecessorCount, column(UInt64(0), count: count))
    var writer = ByteWriter()
    writer.hashes([])
    writer.actor(ActorId(bytes: [actor]))
    writer.uleb(1)
    writer.uleb(1)
    writer.sleb(0)
    writer.string("")
    writer.uleb(0)
    columns.writeHeader(to: &writer)
    columns.writeData(to: &writer)
    return Chunk.encode(.change, body: writer.bytes).bytes
  }
}
