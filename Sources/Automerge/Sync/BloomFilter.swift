/// Tells a peer roughly which changes we have: "no" is always right, "yes" is sometimes wrong.
///
/// It is sent with its parameters. Source: automerge-format, section 7.2.
struct BloomFilter: Equatable {
  /// The bits per entry and the probes that we use, which give about 1% false positives.
  static let defaultBitsPerEntry = 10
  static let defaultProbes = 7
  /// The values that a peer may choose.
  static let bitsPerEntryAllowed: ClosedRange<UInt64> = 1...64
  static let probesAllowed: ClosedRange<UInt64> = 1...32

  let entryCount: Int
  private let bitsPerEntry: Int
  private let probes: Int
  private var bits: [UInt8]

  /// The filter that contains nothing.
  init() { self.init(containing: []) }

  init(containing hashes: [ChangeHash]) {
    self.init(
      entryCount: hashes.count, bitsPerEntry: Self.defaultBitsPerEntry, probes: Self.defaultProbes,
      bits: [UInt8](repeating: 0, count: (hashes.count * Self.defaultBitsPerEntry + 7) / 8))
    for hash in hashes {
      for bit in Probes(of: hash, count: probes, byteCount: bits.count) { bits[bit >> 3] |= 1 << UInt8(bit & 7) }
    }
  }

  /// Reads the encoded form; empty bytes are the empty filter.
  init(decoding encoded: ArraySlice<UInt8>) throws(FormatError) {
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
      entryCount: entryCount, bitsPerEntry: Int(bitsRead), probes: Int(probesRead), bits: Array(reader.rest))
  }

  /// The number of entries as the encoded form names it; nil if that cannot be.
  static func entryCount(in encoded: ArraySlice<UInt8>) -> Int? {
    guard !encoded.isEmpty else { return 0 }
    var reader = ByteReader(encoded)
    return (try? reader.uleb()).flatMap(Int.init(exactly:)).flatMap { $0 <= encoded.count * 8 ? $0 : nil }
  }

  private init(entryCount: Int, bitsPerEntry: Int, probes: Int, bits: [UInt8]) {
    (self.entryCount, self.bitsPerEntry, self.probes, self.bits) = (entryCount, bitsPerEntry, probes, bits)
  }

  var encoded: [UInt8] {
    guard entryCount > 0 else { return [] }
    var writer = ByteWriter()
    writer.uleb(entryCount)
    writer.uleb(bitsPerEntry)
    writer.uleb(probes)
    writer.raw(bits)
    return writer.bytes
  }

  func contains(_ hash: ChangeHash) -> Bool {
    guard !bits.isEmpty else { return false }
    return Probes(of: hash, count: probes, byteCount: bits.count).allSatisfy { bits[$0 >> 3] & 1 << UInt8($0 & 7) != 0 }
  }

  /// The bits of one hash in a filter of so many bytes.
  private struct Probes: Sequence, IteratorProtocol {
    private let modulo: UInt64
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
        x = (x + y) % modulo
        y = (y + z) % modulo
      }
      return Int(x)
    }
  }
}
