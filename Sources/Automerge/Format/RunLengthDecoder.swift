/// The forms in which a column may be written.
enum ColumnMode {
  /// Only the canonical form, for columns of documents.
  case strict
  /// Any valid runs, for columns of changes.
  case lenient
}

/// Rows of a column that hold the same value; nil is null.
struct Run<Item> {
  var value: Item?
  var count: Int
}

/// Reads a run-length encoded column, run by run.
///
/// A run may be consumed in parts, so several columns can be read in step: ask each for a run of at most the rows that
/// the others have left. A literal run is returned as runs of one row, or of more if equal ones follow one another in a
/// lenient column. Claimed lengths are only added, never used for a loop.
struct RunLengthDecoder<Item: RunItem> {
  private var reader: ByteReader
  private let mode: ColumnMode
  private let limit: Int
  private var literalsLeft = 0
  /// The run at the front, if it has rows left.
  private var front = Run<Item>(value: nil, count: 0)
  /// The last thing read, which decides whether the next one is allowed.
  private var last = Last.nothing
  /// How many rows were read, returned or not.
  private(set) var rowsRead = 0

  private enum Last {
    case nothing
    case nulls
    case repeated(Item)
    case literal(Item)
  }

  /// - Parameter limit: the most rows to accept
  init(_ bytes: ArraySlice<UInt8>, mode: ColumnMode, limit: Int = FormatLimits.rows) {
    reader = ByteReader(bytes)
    self.mode = mode
    self.limit = limit
  }

  init(_ bytes: [UInt8], mode: ColumnMode) { self.init(bytes[...], mode: mode) }

  var offset: Int { reader.offset }

  /// The run at the front, without consuming it; nil at the end.
  @inline(__always)
  mutating func peekRun() throws(FormatError) -> Run<Item>? {
    if front.count == 0 {
      guard let run = try readRun() else { return nil }
      front = run
    }
    return front
  }

  /// Consumes rows of the run that `peekRun` returned.
  @inline(__always)
  mutating func skip(_ count: Int) {
    guard front.count > 0 else { return }
    precondition(count <= front.count, "rows are skipped inside one run")
    front.count -= count
  }

  /// The next rows that share one value, at most `count` of them; nil at the end.
  mutating func nextRun(atMost count: Int = .max) throws(FormatError) -> Run<Item>? {
    guard var run = try peekRun() else { return nil }
    run.count = min(run.count, count)
    skip(run.count)
    return run
  }

  /// The next row; nil at the end, so that a column that was omitted because all rows are null reads correctly
  /// (`.some(nil)` is a null).
  mutating func next() throws(FormatError) -> Item?? {
    guard let run = try nextRun(atMost: 1) else { return nil }
    return .some(run.value)
  }

  /// The next row, which must exist and not be null.
  mutating func nextValue() throws(FormatError) -> Item {
    guard let run = try nextRun(atMost: 1) else { throw .truncated(at: reader.offset) }
    guard let value = run.value else { throw .unexpectedNull(at: reader.offset) }
    return value
  }

  /// Throws if rows are left.
  mutating func expectEnd() throws(FormatError) {
    guard try peekRun() == nil else { throw .rowCount(expected: rowsRead, at: reader.offset) }
  }

  private mutating func readRun() throws(FormatError) -> Run<Item>? {
    if literalsLeft > 0 { return try readLiteral(isFirst: false) }
    var start = reader.offset
    var header: Int64 = 0
    while header == 0 {
      guard !reader.isAtEnd else { return nil }
      start = reader.offset
      header = try reader.sleb()
      // Only a lenient column may contain empty runs of nulls, which are skipped.
      if header == 0, let nulls = try readNulls(from: start) { return nulls }
    }
    if header > 0 { return try readRepeat(header, from: start) }
    guard header != .min, let count = Int(exactly: -header), count <= reader.remaining else {
      throw .truncated(at: start)
    }
    if mode == .strict, case .literal = last { throw .run(.adjacentLiterals, at: start) }
    try claim(count, at: start)
    literalsLeft = count
    return try readLiteral(isFirst: true)
  }

  private mutating func readNulls(from start: Int) throws(FormatError) -> Run<Item>? {
    guard let count = Int(exactly: try reader.uleb()) else { throw .integerTooLarge(at: start) }
    if mode == .strict {
      if count == 0 { throw .run(.emptyNulls, at: start) }
      if case .nulls = last { throw .run(.adjacentNulls, at: start) }
    }
    try claim(count, at: start)
    last = .nulls
    return count == 0 ? nil : Run(value: nil, count: count)
  }

  private mutating func readRepeat(_ header: Int64, from start: Int) throws(FormatError) -> Run<Item>? {
    guard let count = Int(exactly: header) else { throw .integerTooLarge(at: start) }
    let value = try Item.read(from: &reader)
    if mode == .strict {
      if count == 1 { throw .run(.shortRepeat, at: start) }
      switch last {
      case .repeated(let before) where Item.sameItem(before, value): throw .run(.adjacentRepeats, at: start)
      case .literal(let before) where Item.sameItem(before, value): throw .run(.equalAcrossBoundary, at: start)
      case .nothing, .nulls, .repeated, .literal: break
      }
    }
    try claim(count, at: start)
    last = .repeated(value)
    return Run(value: value, count: count)
  }

  private mutating func readLiteral(isFirst: Bool) throws(FormatError) -> Run<Item>? {
    let start = reader.offset
    let value = try Item.read(from: &reader)
    literalsLeft -= 1
    if mode == .strict {
      switch last {
      case .repeated(let before) where isFirst && Item.sameItem(before, value):
        throw .run(.equalAcrossBoundary, at: start)
      case .literal(let before) where Item.sameItem(before, value):
        throw .run(.equalLiteralNeighbours, at: start)
      case .nothing, .nulls, .repeated, .literal: break
      }
    }
    last = .literal(value)
    return Run(value: value, count: 1)
  }

  private mutating func claim(_ count: Int, at offset: Int) throws(FormatError) {
    let (sum, overflow) = rowsRead.addingReportingOverflow(count)
    guard !overflow, sum <= limit else { throw .tooMany(limit: limit, at: offset) }
    rowsRead = sum
  }
}
