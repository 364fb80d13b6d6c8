/// Collects bytes: integers as LEB128, strings and hashes in the form of chunks and messages.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  var count: Int { bytes.count }

  mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

  mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  mutating func raw(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  mutating func uleb(_ value: UInt64) {
    var value = value
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: value))
  }

  mutating func uleb(_ value: Int) {
    precondition(value >= 0, "a count is not negative")
    uleb(UInt64(value))
  }

  /// How many bytes `uleb` writes for a count.
  static func ulebByteCount(_ value: Int) -> Int {
    value < 0x80 ? 1 : (70 - UInt64(value).leadingZeroBitCount) / 7
  }

  mutating func sleb(_ value: Int64) {
    var value = value
    while !(-64..<64).contains(value) {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: value) & 0x7f)
  }

  /// The length, then the bytes.
  mutating func lengthPrefixed(_ more: some Collection<UInt8>) {
    uleb(more.count)
    bytes.append(contentsOf: more)
  }

  mutating func string(_ string: String) { lengthPrefixed(string.utf8) }

  mutating func hash(_ hash: ChangeHash) { hash.append(to: &bytes) }

  /// The count, then the hashes in the order given.
  mutating func hashes(_ hashes: some Collection<ChangeHash>) {
    uleb(hashes.count)
    bytes.reserveCapacity(bytes.count + 32 * hashes.count)
    for each in hashes { hash(each) }
  }

  mutating func actor(_ actor: ActorId) { lengthPrefixed(actor.bytes) }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}
