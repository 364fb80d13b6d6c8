/// What is wrong with some bytes, and where. `at` counts from the start of the buffer being read.
public enum FormatError: Error, Equatable, Sendable {
  /// The bytes end before the announced length.
  case truncated(at: Int)
  /// A LEB128 integer is written with more bytes than it needs.
  case overlongInteger(at: Int)
  /// An integer does not fit its type.
  case integerTooLarge(at: Int)
  case invalidUTF8(at: Int)
  /// Bytes follow where the data should end.
  case leftover(at: Int)
  case notAChunk(at: Int)
  case unknownChunkType(UInt8, at: Int)
  case badChecksum(at: Int)
  /// A deflate stream is broken or truncated.
  case badDeflate
  /// A deflate stream holds more bytes than it may.
  case inflatedTooLarge(limit: Int)
  /// Columns are out of order, or one occurs twice.
  case columnOrder(UInt32)
  /// An unknown column in a place where its content could not be preserved.
  case unknownColumn(UInt32)
  /// A deflated column in a place where none may be.
  case deflatedColumn(UInt32)
  /// A column of raw values without its lengths.
  case valuesWithoutMetadata(UInt32)
  case run(RunFault, at: Int)
  /// A column has more or fewer rows than it should.
  case rowCount(expected: Int, at: Int)
  /// More rows, items or hashes than any honest document has.
  case tooMany(limit: Int, at: Int)
  /// A number in a delta column is out of range.
  case valueOutOfRange(at: Int)
  case unexpectedNull(at: Int)
  /// A value whose bytes do not fit its type code.
  case badValue(typeCode: UInt8, at: Int)
  /// A field has a value that its meaning excludes.
  case invalid(Field, at: Int)

  /// How a run breaks the canonical form.
  public enum RunFault: Equatable, Sendable {
    case adjacentLiterals, adjacentNulls, adjacentRepeats, emptyNulls, shortRepeat
    case equalLiteralNeighbours, equalAcrossBoundary, emptyBoolean
  }

  /// The field that an `invalid` error is about.
  public enum Field: Equatable, Sendable {
    case actor, action, key, object, predecessor, sequence, startOp, mark, dependency, heads, messageType, bloom, cursor
    case syncState
    /// The assignment of a bundle's rows to its operations.
    case operationOrder
  }
}

/// Limits for foreign bytes: far above honest use, far below what does harm.
enum FormatLimits {
  /// Rows in one column. An encoded run may claim any number, but counters have 32 bits, so no more could be used.
  static let rows = 1 << 28
  /// How many bytes all deflated columns of a small chunk, or a small compressed change, may inflate to.
  static let inflatedByteCount = 16 << 20
  /// How many times its size a large chunk may inflate to. Text deflates to about a third; `ColumnWriter` stays below
  /// half of this.
  static let inflatedRatio = 32
  /// How many bytes the repeated strings of a chunk may stand for. To hash the changes, the decoder writes every one of them.
  static let repeatedByteCount = 1 << 30
  static let columns = 256
  /// An actor of 128 bytes, preceded by four bytes and up to ten bytes of level, under which it writes on a past state.
  /// Source: automerge-format, sections 6.3 and 9.
  static let actorByteCount = 128 + 4 + 10

  /// How many bytes the deflated parts of a chunk of `stored` bytes may inflate to.
  static func inflatedByteCount(stored: Int) -> Int { max(inflatedByteCount, inflatedRatio * stored) }

  /// How many bytes the repeated keys and names of marks in a change of `stored` bytes may stand for. They are hashed again when the
  /// change is applied, which happens as a whole.
  static func repeatedByteCountOfChange(stored: Int) -> Int { 16 * max(1 << 20, stored) }
}
