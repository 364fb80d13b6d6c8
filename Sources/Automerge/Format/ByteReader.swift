/// Reads integers, strings and byte ranges from a slice, from front to back, without copying it.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  /// The index of the next byte in the buffer that the slice was cut from.
  private(set) var offset: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    offset = bytes.startIndex
  }

  init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  var end: Int { bytes.endIndex }
  var isAtEnd: Bool { offset == bytes.endIndex }
  var remaining: Int { bytes.endIndex - offset }
  /// The bytes that are not consumed yet.
  var rest: ArraySlice<UInt8> { bytes[offset...] }

  mutating func byte() throws(FormatError) -> UInt8 {
    guard offset < bytes.endIndex else { throw .truncated(at: offset) }
    defer { offset += 1 }
    return bytes[offset]
  }

  /// The next `count` bytes, sharing the buffer.
  mutating func bytes(count: Int) throws(FormatError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw .truncated(at: offset) }
    defer { offset += count }
    return bytes[offset..<offset + count]
  }

  mutating func skip(count: Int) throws(FormatError) {
    guard count >= 0, count <= remaining else { throw .truncated(at: offset) }
    offset += count
  }

  /// Skips a length and that many bytes.
  mutating func skipLengthPrefixed() throws(FormatError) { try skip(count: count(itemByteCount: 1)) }

  /// Skips a count and that many hashes, and returns the count.
  @discardableResult
  mutating func skipHashes() throws(FormatError) -> Int {
    let count = try count(itemByteCount: 32)
    try skip(count: 32 * count)
    return count
  }

  /// Unsigned LEB128 of at most 64 bits and minimal length.
  @inline(__always)
  mutating func uleb() throws(FormatError) -> UInt64 {
    if offset < bytes.endIndex, bytes[offset] < 0x80 {
      defer { offset += 1 }
      return UInt64(bytes[offset])
    }
    return try longULEB()
  }

  private mutating func longULEB() throws(FormatError) -> UInt64 {
    let start = offset
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      if shift == 63, next > 1 { throw .integerTooLarge(at: start) }
      value |= UInt64(next & 0x7f) << shift
      if next & 0x80 == 0 {
        if next == 0, shift != 0 { throw .overlongInteger(at: start) }
        return value
      }
      shift += 7
    }
  }

  /// Signed LEB128 of at most 64 bits and minimal length.
  @inline(__always)
  mutating func sleb() throws(FormatError) -> Int64 {
    if offset < bytes.endIndex, bytes[offset] < 0x80 {
      defer { offset += 1 }
      return Int64(Int8(bitPattern: bytes[offset] << 1) >> 1)
    }
    return try longSLEB()
  }

  private mutating func longSLEB() throws(FormatError) -> Int64 {
    let start = offset
    var value: UInt64 = 0
    var shift: UInt64 = 0
    var previous: UInt8 = 0
    while true {
      let next = try byte()
      if shift == 63, next != 0, next != 0x7f { throw .integerTooLarge(at: start) }
      value |= UInt64(next & 0x7f) << shift
      if next & 0x80 == 0 {
        let negative = next & 0x40 != 0
        // A last byte that only repeats the sign of the byte before it is redundant.
        if shift != 0, next == (negative ? 0x7f : 0), (previous & 0x40 != 0) == negative {
          throw .overlongInteger(at: start)
        }
        if negative, shift < 57 { value |= ~0 << (shift + 7) }
        return Int64(bitPattern: value)
      }
      previous = next
      shift += 7
    }
  }

  /// A LEB128 number that must fit in 32 bits.
  mutating func uleb32() throws(FormatError) -> UInt32 {
    let start = offset
    guard let value = UInt32(exactly: try uleb()) else { throw .integerTooLarge(at: start) }
    return value
  }

  /// A count of items that take at least `itemByteCount` bytes each, so that it is safe to allocate memory for it.
  mutating func count(itemByteCount: Int) throws(FormatError) -> Int {
    let start = offset
    guard let count = Int(exactly: try uleb()) else { throw .integerTooLarge(at: start) }
    // Multiplied without an overflow: neither is more than a buffer can have.
    guard count <= remaining, count * max(1, itemByteCount) <= remaining else { throw .truncated(at: start) }
    return count
  }

  /// A length, then that many bytes.
  mutating func lengthPrefixed() throws(FormatError) -> ArraySlice<UInt8> {
    try bytes(count: count(itemByteCount: 1))
  }

  /// A length, then that many bytes of UTF-8.
  mutating func string() throws(FormatError) -> String {
    let start = offset
    guard let string = String(validating: try lengthPrefixed(), as: UTF8.self) else { throw .invalidUTF8(at: start) }
    return string
  }

  mutating func hash() throws(FormatError) -> ChangeHash {
    let start = offset
    guard let hash = ChangeHash(slice: try bytes(count: 32)) else { throw .truncated(at: start) }
    return hash
  }

  /// A count, then that many hashes.
  mutating func hashes(atMost limit: Int = .max) throws(FormatError) -> [ChangeHash] {
    let start = offset
    let count = try count(itemByteCount: 32)
    guard count <= limit else { throw .tooMany(limit: limit, at: start) }
    if count == 0 { return [] }
    var hashes: [ChangeHash] = []
    hashes.reserveCapacity(count)
    try bytes(count: 32 * count).withUnsafeBytes { memory in
      for start in stride(from: 0, to: memory.count, by: 32) {
        hashes.append(ChangeHash(memory: UnsafeRawBufferPointer(rebasing: memory[start...])))
      }
    }
    return hashes
  }

  /// A length, then the actor's bytes, at most 128.
  mutating func actor() throws(FormatError) -> ActorId {
    let start = offset
    let bytes = try lengthPrefixed()
    guard bytes.count <= FormatLimits.actorByteCount else { throw .invalid(.actor, at: start) }
    return ActorId(bytes: bytes)
  }

  func expectEnd() throws(FormatError) {
    guard isAtEnd else { throw .leftover(at: offset) }
  }
}
