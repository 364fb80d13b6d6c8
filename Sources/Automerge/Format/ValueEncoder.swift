/// Writes the two columns of values: lengths with type codes, and the contiguous bytes of the values.
struct ValueEncoder {
  private var metadata = RunLengthEncoder<UInt64>()
  private var raw = ByteWriter()

  init() {}

  var count: Int { metadata.count }

  mutating func append(_ value: RawValue) {
    metadata.append(value.metadata)
    raw.raw(value.bytes)
  }

  mutating func append(_ value: ScalarValue) { append(RawValue(value)) }

  /// Appends `count` empty byte strings in O(1).
  mutating func appendNoBytes(count: Int) { metadata.append(UInt64(RawValue.Code.bytes), count: count) }

  /// Appends `count` nulls in O(1).
  mutating func appendNull(count: Int = 1) { metadata.append(0, count: count) }

  /// Appends each scalar of some UTF-8 as a string of its own: the values of a run of typed text.
  /// - Complexity: O(n) in the bytes, with real work only where the byte length of the scalars changes
  mutating func appendText(_ utf8: ArraySlice<UInt8>) {
    raw.raw(utf8)
    utf8.withUnsafeBufferPointer { bytes in
      var index = 0
      while index < bytes.count {
        let length = UTF8Scalar.byteCount(lead: bytes[index])
        let start = index
        repeat { index += length } while index < bytes.count && UTF8Scalar.byteCount(lead: bytes[index]) == length
        metadata.append(UInt64(length << 4 | Int(RawValue.Code.string)), count: (index - start) / length)
      }
    }
  }

  mutating func appendText(_ utf8: [UInt8]) { appendText(utf8[...]) }

  /// Both columns. The encoder is empty afterwards.
  mutating func finish() -> (metadata: [UInt8], raw: [UInt8]) {
    defer { self = ValueEncoder() }
    return (metadata.finish(), raw.bytes)
  }
}

/// The shape of one scalar in UTF-8.
enum UTF8Scalar {
  /// The number of bytes of the scalar that starts with `lead`; 1 for a byte that starts none.
  @inline(__always)
  static func byteCount(lead: UInt8) -> Int {
    if lead < 0xc0 { return 1 }
    if lead < 0xe0 { return 2 }
    return lead < 0xf0 ? 3 : 4
  }

  /// How many valid scalars of `byteCount` bytes each `bytes` begins with.
  static func count(in bytes: ArraySlice<UInt8>, byteCount: Int) -> Int {
    bytes.withUnsafeBufferPointer { bytes in
      if byteCount == 1 { return bytes.firstIndex { $0 >= 0x80 } ?? bytes.count }
      var count = 0
      while (count + 1) * byteCount <= bytes.count, isValid(bytes[(count * byteCount)..<(count + 1) * byteCount]) {
        count += 1
      }
      return count
    }
  }

  /// Whether two to four bytes are one scalar.
  private static func isValid(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    let lead = bytes[bytes.startIndex], second = bytes[bytes.startIndex + 1]
    guard lead >= 0xc2, byteCount(lead: lead) == bytes.count, bytes.dropFirst().allSatisfy({ $0 & 0xc0 == 0x80 }) else {
      return false
    }
    // The encoding is not overlong, not a surrogate, and not past the last scalar.
    return switch lead {
    case 0xe0: second >= 0xa0
    case 0xed: second < 0xa0
    case 0xf0: second >= 0x90
    case 0xf4: second < 0x90
    default: lead < 0xf5
    }
  }
}
