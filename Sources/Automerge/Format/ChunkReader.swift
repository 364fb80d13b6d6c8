/// Splits a file or message into its chunks, and continues after a bad one.
///
/// Every chunk has passed its checksum. After a damaged one, reading resumes at the next place where a complete good
/// chunk begins, so a torn write does not affect its neighbours.
struct ChunkReader {
  private let bytes: ArraySlice<UInt8>
  private(set) var offset: Int
  /// How many bytes may still be hashed or inflated without finding a valid chunk. This keeps forged headers from
  /// costing O(n²).
  private var searchBudget: Int
  /// How many bytes may still be inflated, if this is less than is allowed otherwise; reduced by what was, also by bad
  /// chunks and while searching.
  var inflateBudget = Int.max
  /// The chunk that a search has found already.
  private var found: (chunk: Chunk, end: Int)?

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    offset = bytes.startIndex
    searchBudget = 16 * bytes.count + (1 << 20)
  }

  init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  var isAtEnd: Bool { offset >= bytes.endIndex }

  /// The next chunk, or the error in the bytes before the next good one; nil at the end.
  mutating func next() -> Result<Chunk, FormatError>? {
    guard offset < bytes.endIndex else { return nil }
    if let (chunk, end) = found {
      (found, offset) = (nil, end)
      return .success(chunk)
    }
    do throws(FormatError) {
      let (chunk, end) = try read(at: offset)
      offset = end
      return .success(chunk)
    } catch {
      offset = nextGood(after: offset)
      return .failure(error)
    }
  }

  /// All chunks, or the first error.
  static func all(_ bytes: ArraySlice<UInt8>) throws(FormatError) -> [Chunk] {
    var reader = ChunkReader(bytes)
    var chunks: [Chunk] = []
    while let next = reader.next() { chunks.append(try next.get()) }
    return chunks
  }

  private func frame(
    at start: Int
  ) throws(FormatError) -> (kind: Chunk.Kind, checksum: ArraySlice<UInt8>, body: ArraySlice<UInt8>) {
    var reader = ByteReader(bytes[start...])
    guard try reader.bytes(count: 4).elementsEqual(Chunk.magic) else { throw .notAChunk(at: start) }
    let checksum = try reader.bytes(count: 4)
    let type = try reader.byte()
    let body = try reader.lengthPrefixed()
    guard let kind = Chunk.Kind(rawValue: type) else { throw .unknownChunkType(type, at: start) }
    return (kind, checksum, body)
  }

  private mutating func read(at start: Int) throws(FormatError) -> (Chunk, end: Int) {
    let (kind, checksum, stored) = try frame(at: start)
    var (kindRead, body) = (kind, stored)
    if kind == .compressedChange {
      let limit = FormatLimits.inflatedByteCount(stored: stored.count)
      body = try Deflate.inflate(stored, limit: limit, from: &inflateBudget)[...]
      kindRead = .change
    }
    let hash = Chunk.hash(kindRead, body: body)
    guard hash.begins(with: checksum) else { throw .badChecksum(at: start) }
    return (Chunk(kind: kindRead, body: body, hash: hash), stored.endIndex)
  }

  /// Where the next complete good chunk begins after `start`, or the end.
  private mutating func nextGood(after start: Int) -> Int {
    // A frame with a wrong checksum usually has the right length: try what follows it first.
    if let end = (try? frame(at: start))?.body.endIndex, end == bytes.endIndex || isGood(at: end) {
      return end
    }
    var candidate = start + 1
    while searchBudget > 0, let magic = nextMagic(from: candidate) {
      if isGood(at: magic) { return magic }
      candidate = magic + 1
    }
    return bytes.endIndex
  }

  private func nextMagic(from start: Int) -> Int? {
    var index = start
    while index + 4 <= bytes.endIndex {
      guard let first = bytes[index...].firstIndex(of: Chunk.magic[0]) else { return nil }
      if bytes[first...].starts(with: Chunk.magic) { return first }
      index = first + 1
    }
    return nil
  }

  private mutating func isGood(at start: Int) -> Bool {
    guard let frame = try? frame(at: start) else { return false }
    if let good = try? read(at: start) {
      found = good
      return true
    }
    // Inflating can cost far more than reading the bytes.
    searchBudget -= 16 + (frame.kind == .compressedChange ? 64 : 1) * frame.body.count
    return false
  }
}
