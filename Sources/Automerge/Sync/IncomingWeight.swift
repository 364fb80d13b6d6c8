import Foundation

/// Whether a sync message is so little work that it may be handled at once, on a thread that others wait for.
///
/// Reads only as much as this takes, because a few hundred bytes can claim a million operations, or inflate to a
/// megabyte.
package struct IncomingWeight {
  /// Source of all limits: PeerProtocol.md, "Expensive changes".
  static let lightByteCount = 32 << 10
  static let lightOpCount = 4096
  /// How many more operations than bytes a message may have.
  static let lightDenseOpCount = 64
  static let lightDocumentByteCount = 1 << 10
  /// How many bytes the columns of a document may inflate to: they are inflated here and once more by the decoder. As many may the
  /// repeated strings of a message stand for.
  static let lightInflatedByteCount = 256 << 10

  /// How many operations the rest of the message may have.
  private var opsLeft = Self.lightOpCount
  /// How many bytes its repeated strings may stand for.
  private var repeatedLeft = Self.lightInflatedByteCount
  /// No program sends two documents in one message.
  private var hasDocument = false

  package static func isLight(_ message: Data) -> Bool {
    guard message.count <= lightByteCount else { return false }
    // Bytes that are not a message are refused at once.
    guard let header = SyncHeader(message) else { return true }
    var (reader, weight) = (header.changes, IncomingWeight())
    weight.opsLeft = min(lightOpCount, message.count + lightDenseOpCount)
    for _ in 0..<header.changeCount {
      guard let chunk = try? reader.lengthPrefixed() else { return true }
      guard (try? weight.weigh(chunk)) != nil else { return false }
    }
    return true
  }

  /// Subtracts the operations of some chunks from `opsLeft`; throws if they are more, or if their number is not certain.
  private mutating func weigh(_ chunks: ArraySlice<UInt8>) throws(FormatError) {
    var reader = ByteReader(chunks)
    while !reader.isAtEnd {
      guard try reader.bytes(count: 4).elementsEqual(Chunk.magic) else { throw .notAChunk(at: reader.offset) }
      _ = try reader.bytes(count: 4)
      let type = try reader.byte()
      let body = try reader.lengthPrefixed()
      switch Chunk.Kind(rawValue: type) {
      case .change: try weigh(change: ByteReader(body))
      case .document where body.count <= Self.lightDocumentByteCount && !hasDocument:
        hasDocument = true
        try weigh(document: ByteReader(body))
      default: throw .tooMany(limit: Self.lightOpCount, at: reader.offset)
      }
    }
  }

  /// A keystroke passes here before it is decoded, so this copies nothing. All other checks are the decoder's.
  private mutating func weigh(change: ByteReader) throws(FormatError) {
    var reader = change
    try reader.skipHashes()
    try reader.skipLengthPrefixed()
    _ = try reader.uleb()
    _ = try reader.uleb()
    _ = try reader.sleb()
    try reader.skipLengthPrefixed()
    for _ in 0..<(try reader.count(itemByteCount: 1)) { try reader.skipLengthPrefixed() }
    var columns = reader
    let columnCount = try reader.count(itemByteCount: 2)
    for _ in 0..<columnCount {
      _ = try reader.uleb()
      _ = try reader.uleb()
    }
    // `columns` reads the list a second time; `reader` is now at the first column's data.
    _ = try columns.uleb()
    for _ in 0..<columnCount {
      let spec = ColumnSpec(rawValue: try columns.uleb32())
      let bytes = try reader.bytes(count: columns.count(itemByteCount: 1))
      guard !spec.isDeflated else { throw .deflatedColumn(spec.rawValue) }
      if spec == ColumnSpec.Op.action { try take(Self.sum(of: bytes).rows) }
      if spec == ColumnSpec.Op.predecessorCount { try take(Self.sum(of: bytes).total) }
      if spec == ColumnSpec.Op.keyString || spec == ColumnSpec.Op.markName {
        try FormatLimits.take(ColumnSet.repeatedByteCount(bytes), from: &repeatedLeft)
      }
    }
  }

  private mutating func weigh(document: ByteReader) throws(FormatError) {
    var reader = document
    for _ in 0..<(try reader.count(itemByteCount: 1)) { _ = try reader.actor() }
    _ = try reader.hashes()
    let changeHead = try ColumnHeader(from: &reader, allowingDeflate: true)
    let opHead = try ColumnHeader(from: &reader, allowingDeflate: true)
    var budget = Self.lightInflatedByteCount
    let changes = try changeHead.readColumns(from: &reader, inflating: &budget)
    let ops = try opHead.readColumns(from: &reader, inflating: &budget)
    try take(Self.sum(of: ops[ColumnSpec.Op.action]).rows)
    try take(Self.sum(of: ops[ColumnSpec.Op.successorCount]).total)
    try take(Self.sum(of: changes[ColumnSpec.Change.dependencyCount]).total)
    try take(Self.sum(of: changes[ColumnSpec.Change.actor]).rows)
    try FormatLimits.take(changes.repeatedByteCount(ColumnSpec.Change.message), from: &repeatedLeft)
    try FormatLimits.take(ops.repeatedNameByteCount, from: &repeatedLeft)
  }

  private mutating func take(_ count: UInt64) throws(FormatError) {
    guard count <= UInt64(opsLeft) else { throw .tooMany(limit: Self.lightOpCount, at: 0) }
    opsLeft -= Int(count)
  }

  /// The number of rows of a run-length encoded column of integers, and their sum.
  private static func sum(of column: ArraySlice<UInt8>) throws(FormatError) -> (rows: UInt64, total: UInt64) {
    var reader = ByteReader(column)
    var (rows, total): (UInt64, UInt64) = (0, 0)
    func add(_ value: UInt64, times: UInt64) throws(FormatError) {
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: times)
      guard !isTooLarge, product < 1 << 40, times < 1 << 40 else { throw .tooMany(limit: lightOpCount, at: 0) }
      rows += times
      total += product
      guard rows < 1 << 40, total < 1 << 40 else { throw .tooMany(limit: lightOpCount, at: 0) }
    }
    while !reader.isAtEnd {
      let length = try reader.sleb()
      if length > 0 {
        try add(try reader.uleb(), times: UInt64(length))
      } else if length == 0 {
        try add(0, times: try reader.uleb())
      } else {
        // As many values follow, each of at least one byte.
        guard length.magnitude <= UInt64(reader.remaining) else { throw .truncated(at: reader.offset) }
        for _ in 0..<length.magnitude { try add(try reader.uleb(), times: 1) }
      }
    }
    return (rows, total)
  }
}
