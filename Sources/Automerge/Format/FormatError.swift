/// What is wrong with some bytes, and where in them. `at` counts from the start of the buffer being read.
public enum FormatError: Error, Equatable, Sendable {
  /// The bytes end before what was announced.
  case truncated(at: Int)
  /// A LEB128 integer is written with more bytes than it needs.
  case overlongInteger(at: Int)
  /// An integer does not fit the type it is for.
  case integerTooLarge(at: Int)
  case invalidUTF8(at: Int)
  /// Something ended, but bytes follow.
  case leftover(at: Int)
  case notAChunk(at: Int)
  case unknownChunkType(UInt8, at: Int)
  case badChecksum(at: Int)
  /// A deflate stream is broken or truncated.
  case badDeflate
  /// A deflate stream holds more than is allowed for it.
  case inflatedTooLarge(limit: Int)
  /// Columns are out of order, or one stands there twice.
  case columnOrder(UInt32)
  /// A column that is not known, where what it holds could not be kept.
  case unknownColumn(UInt32)
  /// A deflated column where none may be.
  case deflatedColumn(UInt32)
  /// A column of raw values without its lengths.
  case valuesWithoutMetadata(UInt32)
  case run(RunFault, at: Int)
  /// A column has more or fewer rows than it should.
  case rowCount(expected: Int, at: Int)
  /// More rows, items or hashes than any real document has.
  case tooMany(limit: Int, at: Int)
  /// A delta column leaves the range of its values.
  case valueOutOfRange(at: Int)
  case unexpectedNull(at: Int)
  /// A value whose bytes do not fit its type code.
  case badValue(typeCode: UInt8, at: Int)
  /// A field holds something its meaning excludes.
  case invalid(Field, at: Int)

  /// How a run breaks the canonical form.
  public enum RunFault: Equatable, Sendable {
    case adjacentLiterals, adjacentNulls, adjacentRepeats, emptyNulls, emptyLiteral, shortRepeat
    case equalLiteralNeighbours, equalAcrossBoundary, emptyBoolean
  }

  /// What an `invalid` is about.
  public enum Field: Equatable, Sendable {
    case actor, action, key, object, predecessor, sequence, startOp, mark, dependency, heads, messageType, bloom, cursor
    case syncState
    /// Which row of a bundle is which operation.
    case operationOrder
  }
}

/// Bounds on what foreign bytes may ask for. Far above honest use, far below what hurts.
enum FormatLimits {
  /// Rows in one column. An encoded run may claim any number; a counter is 32 bits, so no more could ever be used.
  static let rows = 1 << 28
  /// What all deflated columns of a small chunk, or a small compressed change, may grow to.
  static let inflatedByteCount = 16 << 20
  /// How many times its size a large chunk may grow to. Text deflates to a third or so; `ColumnWriter` stays below half.
  static let inflatedRatio = 32
  static let columns = 256
  /// An actor of 128 bytes, behind the four bytes and up to ten bytes of level under which it writes on a past state.
  /// Source: automerge-format, sections 6.3 and 9.
  static let actorByteCount = 128 + 4 + 10

  /// What the deflated parts of a chunk of so many bytes may grow to.
  static func inflatedByteCount(stored: Int) -> Int { max(inflatedByteCount, inflatedRatio * stored) }
}
