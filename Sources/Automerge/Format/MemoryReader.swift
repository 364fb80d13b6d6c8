/// Reads numbers and byte ranges from memory, from front to back, without a possible error at each step.
///
/// Unsafe memory. Its invariants: `0 <= offset <= bytes.count`, and every read is compared with `bytes.count` first;
/// the memory outlives the reader. A read that does not fit, or a number that is not in its shortest form, makes the
/// reader bad permanently and returns zero or nothing, so the caller checks `isGood` once, before it uses anything.
struct MemoryReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private(set) var offset = 0
  private(set) var isGood = true

  init(_ bytes: UnsafeBufferPointer<UInt8>, from offset: Int = 0) {
    precondition(offset >= 0 && offset <= bytes.count, "the offset is in the memory")
    (self.bytes, self.offset) = (bytes, offset)
  }

  var isAtEnd: Bool { offset == bytes.count }
  /// The bytes that are not consumed yet.
  var rest: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: bytes[offset...]) }

  private mutating func fail() { (isGood, offset) = (false, bytes.count) }

  @inline(__always)
  mutating func byte() -> UInt8 {
    guard offset < bytes.count else {
      fail()
      return 0
    }
    offset += 1
    return bytes[offset - 1]
  }

  /// The next `count` bytes, in place.
  @inline(__always)
  mutating func bytes(count: Int) -> UnsafeBufferPointer<UInt8> {
    guard count >= 0, count <= bytes.count - offset else {
      fail()
      return UnsafeBufferPointer(start: nil, count: 0)
    }
    offset += count
    return UnsafeBufferPointer(rebasing: bytes[offset - count..<offset])
  }

  /// Unsigned LEB128 of at most 64 bits and minimal length.
  @inline(__always)
  mutating func uleb() -> UInt64 {
    let first = byte()
    return first < 0x80 ? UInt64(first) : longULEB(first)
  }

  private mutating func longULEB(_ first: UInt8) -> UInt64 {
    var value = UInt64(first & 0x7f), shift: UInt64 = 7
    while isGood {
      let next = byte()
      if shift == 63, next > 1 { break }
      value |= UInt64(next & 0x7f) << shift
      if next & 0x80 == 0 {
        if next == 0 { break }
        return value
      }
      shift += 7
    }
    fail()
    return 0
  }

  /// Signed LEB128 of at most 64 bits and minimal length.
  @inline(__always)
  mutating func sleb() -> Int64 {
    let first = byte()
    return first < 0x80 ? Int64(Int8(bitPattern: first << 1) >> 1) : longSLEB(first)
  }

  private mutating func longSLEB(_ first: UInt8) -> Int64 {
    var value = UInt64(first & 0x7f), shift: UInt64 = 7, previous = first
    while isGood {
      let next = byte()
      if shift == 63, next != 0, next != 0x7f { break }
      value |= UInt64(next & 0x7f) << shift
      if next & 0x80 == 0 {
        let isNegative = next & 0x40 != 0
        // A last byte that only repeats the sign of the byte before it is redundant.
        if next == (isNegative ? 0x7f : 0), (previous & 0x40 != 0) == isNegative { break }
        if isNegative, shift < 57 { value |= ~0 << (shift + 7) }
        return Int64(bitPattern: value)
      }
      previous = next
      shift += 7
    }
    fail()
    return 0
  }

  /// A number that fits in 32 bits.
  @inline(__always)
  mutating func uleb32() -> UInt32 {
    guard let value = UInt32(exactly: uleb()) else {
      fail()
      return 0
    }
    return value
  }

  /// A length, then that many bytes.
  @inline(__always)
  mutating func lengthPrefixed() -> UnsafeBufferPointer<UInt8> {
    guard let count = Int(exactly: uleb()) else {
      fail()
      return UnsafeBufferPointer(start: nil, count: 0)
    }
    return bytes(count: count)
  }

  /// 32 bytes; nil if there are fewer.
  @inline(__always)
  mutating func hash() -> ChangeHash? {
    let bytes = bytes(count: 32)
    return bytes.count == 32 ? ChangeHash(memory: UnsafeRawBufferPointer(bytes)) : nil
  }
}
