/// The columns of one table, inflated, as read from a chunk.
struct ColumnSet {
  /// In the order of the file.
  private(set) var columns: [(spec: ColumnSpec, bytes: ArraySlice<UInt8>)] = []

  /// The column's bytes; empty if the column was omitted.
  subscript(_ spec: ColumnSpec) -> ArraySlice<UInt8> {
    columns.first { $0.spec == spec }?.bytes ?? []
  }

  /// Replaces the bytes of a column, under another name.
  mutating func replace(_ spec: ColumnSpec, by other: ColumnSpec, _ bytes: [UInt8]) {
    remove(spec)
    columns.append((other, bytes[...]))
  }

  mutating func remove(_ spec: ColumnSpec) { columns.removeAll { $0.spec == spec } }

  /// The columns that are not among `known`.
  func unknown(besides known: Set<ColumnSpec>) -> [ColumnSpec] { columns.map(\.spec).filter { !known.contains($0) } }
}

/// The head of a table: which columns follow and how long each is.
struct ColumnHeader {
  fileprivate var entries: [(spec: ColumnSpec, byteCount: Int)] = []

  /// Reads and checks the list: ascending, no column twice, no raw values without their lengths.
  /// - Parameter allowingGroupedValues: whether the lengths of raw values may be a group column, as in bundles
  init(
    from reader: inout ByteReader, allowingDeflate: Bool, allowingGroupedValues: Bool = false
  ) throws(FormatError) {
    let start = reader.offset
    let count = try reader.count(itemByteCount: 2)
    guard count <= FormatLimits.columns else { throw .tooMany(limit: FormatLimits.columns, at: start) }
    for _ in 0..<count {
      let spec = ColumnSpec(rawValue: try reader.uleb32())
      let lengthOffset = reader.offset
      guard let byteCount = Int(exactly: try reader.uleb()) else { throw .integerTooLarge(at: lengthOffset) }
      if spec.isDeflated, !allowingDeflate { throw .deflatedColumn(spec.rawValue) }
      if let last = entries.last?.spec, last.inflated.rawValue >= spec.inflated.rawValue {
        throw .columnOrder(spec.rawValue)
      }
      if spec.kind == .valueRaw {
        guard let last = entries.last?.spec, last.id == spec.id,
          last.kind == .valueMetadata || (allowingGroupedValues && last.kind == .group)
        else {
          throw .valuesWithoutMetadata(spec.rawValue)
        }
      }
      entries.append((spec, byteCount))
    }
  }

  /// Reads the data that belongs to the list.
  /// - Parameter budget: how many bytes deflated columns may still inflate to; reduced by what they use
  func readColumns(from reader: inout ByteReader, inflating budget: inout Int) throws(FormatError) -> ColumnSet {
    var columns: [(ColumnSpec, ArraySlice<UInt8>)] = []
    columns.reserveCapacity(entries.count)
    for (spec, byteCount) in entries {
      let bytes = try reader.bytes(count: byteCount)
      if spec.isDeflated {
        columns.append((spec.inflated, try Deflate.inflate(bytes, from: &budget)[...]))
      } else {
        columns.append((spec, bytes))
      }
    }
    return ColumnSet(columns: columns)
  }

  /// Reads the data of columns of which none is deflated.
  func readColumns(from reader: inout ByteReader) throws(FormatError) -> ColumnSet {
    var none = 0
    return try readColumns(from: &reader, inflating: &none)
  }
}

/// Collects the columns of a table that is being written.
struct ColumnWriter {
  private var header = ByteWriter()
  private var data = ByteWriter()
  private var count = 0
  private var last: UInt32?
  private let deflating: Bool

  /// Columns of at least this size are deflated. Source: automerge-format, section 2.
  static let deflateMinimum = 256
  /// A longer column that shrinks very much is not deflated, so that no reader mistakes the chunk for a deflate bomb.
  private static let modestByteCount = 512 << 10

  /// - Parameter deflating: whether long columns are deflated, as in documents
  init(deflating: Bool = false) { self.deflating = deflating }

  /// Adds a column unless it is empty. Columns must be added in ascending order.
  mutating func append(_ spec: ColumnSpec, _ bytes: [UInt8]) {
    precondition(last.map { $0 < spec.rawValue } ?? true, "columns are written in ascending order")
    last = spec.rawValue
    guard !bytes.isEmpty else { return }
    if deflating, bytes.count >= Self.deflateMinimum {
      let deflated = Deflate.deflate(bytes[...])
      if bytes.count <= Self.modestByteCount || bytes.count <= deflated.count * (FormatLimits.inflatedRatio / 2) {
        add(spec.deflated, deflated)
        return
      }
    }
    add(spec, bytes)
  }

  /// Writes the list: the number of columns, then the name and length of each.
  func writeHeader(to writer: inout ByteWriter) {
    writer.uleb(count)
    writer.raw(header.bytes)
  }

  func writeData(to writer: inout ByteWriter) { writer.raw(data.bytes) }

  private mutating func add(_ spec: ColumnSpec, _ bytes: [UInt8]) {
    count += 1
    header.uleb(UInt64(spec.rawValue))
    header.uleb(bytes.count)
    data.raw(bytes)
  }
}
