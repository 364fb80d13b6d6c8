/// Tells a peer roughly which changes we have: "no" is always right, "yes" is sometimes wrong.
///
/// It is sent with its parameters. Source: automerge-format, section 7.2.
struct BloomFilter: Equatable {
  /// The bits per entry and the probes that we use, which give about 1% false positives.
  static let defaultBitsPerEntry = 10
  static let defaultProbes = 7
  /// The values that a peer may choose. All known programs use ours, and each probe costs time for each change.
  static let bitsPerEntryAllowed: ClosedRange<UInt64> = 1...64
  static let probesAllowed: ClosedRange<UInt64> = 1...8
  /// Filters are no longer than this, which is enough for 1.6 million changes; for more they have fewer bits per entry.
  /// Source: PeerProtocol.md, "Expensive changes".
  static let maximumByteCount = 2 << 20

  let entryCount: Int
  private let bitsPerEntry: Int
  private let probes: Int
  private var bits: FilterBits

  /// The filter that contains nothing.
  init() { self.init(containing: []) }

  init(containing hashes: [ChangeHash], byteCount limit: Int = maximumByteCount) {
    let bitsPerEntry = min(Self.defaultBitsPerEntry, 8 * limit / max(1, hashes.count))
    guard bitsPerEntry > 0 else {
      self.init()
      return
    }
    self.init(
      entryCount: hashes.count, bitsPerEntry: bitsPerEntry,
      probes: max(1, Self.defaultProbes * bitsPerEntry / Self.defaultBitsPerEntry),
      bits: FilterBits(byteCount: (hashes.count * bitsPerEntry + 7) / 8))
    for hash in hashes {
      for bit in Probes(of: hash, count: probes, byteCount: bits.byteCount) { bits.insert(bit) }
    }
  }

  /// Reads the encoded form; empty bytes are the empty filter.
  /// - Parameter limit: of a longer filter only the number of entries is kept, so that it contains nothing: its sender
  ///   is then sent more than it lacks
  init(decoding encoded: ArraySlice<UInt8>, keeping limit: Int = maximumByteCount) throws(FormatError) {
    guard !encoded.isEmpty else {
      self.init()
      return
    }
    let start = encoded.startIndex
    var reader = ByteReader(encoded)
    let entries = try reader.uleb()
    let bitsRead = try reader.uleb()
    let probesRead = try reader.uleb()
    guard Self.bitsPerEntryAllowed.contains(bitsRead), Self.probesAllowed.contains(probesRead),
      let entryCount = Int(exactly: entries), entryCount <= encoded.count * 8
    else { throw .invalid(.bloom, at: start) }
    let byteCount = (entryCount * Int(bitsRead) + 7) / 8
    guard byteCount == reader.remaining else { throw .invalid(.bloom, at: start) }
    self.init(
      entryCount: entryCount, bitsPerEntry: Int(bitsRead), probes: Int(probesRead),
      bits: byteCount <= limit ? FilterBits(reader.rest) : FilterBits(byteCount: 0))
  }

  /// The number of entries as the encoded form names it; nil if that cannot be.
  static func entryCount(in encoded: ArraySlice<UInt8>) -> Int? {
    guard !encoded.isEmpty else { return 0 }
    var reader = ByteReader(encoded)
    return (try? reader.uleb()).flatMap(Int.init(exactly:)).flatMap { $0 <= encoded.count * 8 ? $0 : nil }
  }

  private init(entryCount: Int, bitsPerEntry: Int, probes: Int, bits: FilterBits) {
    (self.entryCount, self.bitsPerEntry, self.probes, self.bits) = (entryCount, bitsPerEntry, probes, bits)
  }

  var byteCount: Int { bits.byteCount }

  var encoded: [UInt8] {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.bytes
  }

  var encodedByteCount: Int {
    guard bits.byteCount > 0 else { return 0 }
    return ByteWriter.ulebByteCount(entryCount) + ByteWriter.ulebByteCount(bitsPerEntry)
      + ByteWriter.ulebByteCount(probes) + bits.byteCount
  }

  func write(to writer: inout ByteWriter) {
    guard bits.byteCount > 0 else { return }
    writer.uleb(entryCount)
    writer.uleb(bitsPerEntry)
    writer.uleb(probes)
    bits.write(to: &writer)
  }

  func contains(_ hash: ChangeHash) -> Bool {
    guard bits.byteCount > 0 else { return false }
    for bit in Probes(of: hash, count: probes, byteCount: bits.byteCount) where !bits.contains(bit) { return false }
    return true
  }

  /// The bits of one hash in a filter of so many bytes.
  private struct Probes: Sequence, IteratorProtocol {
    private let modulo: UInt64
    /// Below `modulo`.
    private var x, y, z: UInt64
    private var left: Int

    init(of hash: ChangeHash, count: Int, byteCount: Int) {
      modulo = UInt64(byteCount) * 8
      let words = hash.bloomWords
      (x, y, z) = (UInt64(words.0) % modulo, UInt64(words.1) % modulo, UInt64(words.2) % modulo)
      left = count
    }

    mutating func next() -> Int? {
      guard left > 0 else { return nil }
      left -= 1
      defer {
        x = sum(x, y)
        y = sum(y, z)
      }
      return Int(x)
    }

    /// Without a division, which would be most of the work.
    private func sum(_ one: UInt64, _ other: UInt64) -> UInt64 {
      let sum = one + other
      return sum < modulo ? sum : sum - modulo
    }
  }
}
