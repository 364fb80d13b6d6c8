/// The bits of a filter. Up to 64 of them, enough for six changes, take no memory of their own.
struct FilterBits: Equatable {
  let byteCount: Int
  /// All bits if there are at most 64, the first one in the lowest place.
  private var few: UInt64 = 0
  /// All bytes if there are more, the first bit in the lowest place of the first one.
  private var many: [UInt8] = []

  private static let fewByteCount = 8

  /// No bit is set.
  init(byteCount: Int) {
    self.byteCount = byteCount
    if byteCount > Self.fewByteCount { many = [UInt8](repeating: 0, count: byteCount) }
  }

  init(_ bytes: ArraySlice<UInt8>) {
    byteCount = bytes.count
    if byteCount > Self.fewByteCount {
      many = Array(bytes)
    } else {
      for byte in bytes.reversed() { few = few << 8 | UInt64(byte) }
    }
  }

  @inline(__always)
  func contains(_ bit: Int) -> Bool {
    byteCount > Self.fewByteCount ? many[bit >> 3] & 1 << UInt8(bit & 7) != 0 : few >> UInt64(bit) & 1 != 0
  }

  @inline(__always)
  mutating func insert(_ bit: Int) {
    if byteCount > Self.fewByteCount { many[bit >> 3] |= 1 << UInt8(bit & 7) } else { few |= 1 << UInt64(bit) }
  }

  func write(to writer: inout ByteWriter) {
    if byteCount > Self.fewByteCount { return writer.raw(many) }
    for place in 0..<byteCount { writer.byte(UInt8(truncatingIfNeeded: few >> UInt64(8 * place))) }
  }
}
