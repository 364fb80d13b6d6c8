/// A message between two replicas of a document: the sender's heads, what it lacks, what it has, and changes.
///
/// Source: automerge-format, section 7.1.
struct SyncMessage: Equatable {
  enum Version: UInt8 {
    /// One chunk per change.
    case v1 = 0x42
    /// All changes, or a whole document, as one chunk.
    case v2 = 0x43
  }

  /// What a peer says it has beyond a common point.
  struct Have: Equatable {
    /// The heads of what both had when they last agreed.
    var lastSync: [ChangeHash] = []
    /// The changes since then.
    var bloom = BloomFilter()
  }

  /// Capabilities and conditions of the sender.
  struct Flags: OptionSet, Equatable {
    let rawValue: UInt8
    /// The sender asks for everything again that it was sent before.
    static let syncReset = Flags(rawValue: 1)
    /// The sender refuses changes.
    static let readOnly = Flags(rawValue: 2)
    static let supportsSyncReset = Flags(rawValue: 4)
  }

  var version: Version = .v1
  var heads: [ChangeHash] = []
  var need: [ChangeHash] = []
  var have: [Have] = []
  /// Chunks, none of them empty.
  var changes: [ArraySlice<UInt8>] = []
  /// Nil if the message had no trailer, because it comes from a peer that reads only v1.
  var flags: Flags?

  /// Limits of one message, far above what any honest document needs.
  enum Limit {
    static let heads = 4096
    static let need = 8192
    /// All known programs send one. Each of our changes is looked up in all of them.
    static let have = 2
  }

  /// Marks a byte of the trailer as bits of `Flags`.
  private static let flagsMark: UInt8 = 0x80
  /// In the trailer, for peers older than the flags: the sender reads v2.
  private static let readsV2: UInt8 = 0x02

  init() {}

  init(decoding bytes: ArraySlice<UInt8>) throws(FormatError) {
    var reader = ByteReader(bytes)
    guard let version = Version(rawValue: try reader.byte()) else { throw .invalid(.messageType, at: bytes.startIndex) }
    self.version = version
    heads = try reader.hashes(atMost: Limit.heads)
    need = try reader.hashes(atMost: Limit.need)
    let haveOffset = reader.offset
    let haveCount = try reader.count(itemByteCount: 2)
    guard haveCount <= Limit.have else { throw .tooMany(limit: Limit.have, at: haveOffset) }
    var filterByteCount = BloomFilter.maximumByteCount
    for _ in 0..<haveCount {
      let lastSync = try reader.hashes(atMost: Limit.heads)
      let bloom = try BloomFilter(decoding: try reader.lengthPrefixed(), keeping: filterByteCount)
      filterByteCount -= bloom.byteCount
      have.append(Have(lastSync: lastSync, bloom: bloom))
    }
    for _ in 0..<(try reader.count(itemByteCount: 1)) {
      let chunk = try reader.lengthPrefixed()
      if !chunk.isEmpty { changes.append(chunk) }
    }
    guard !reader.isAtEnd else { return }
    // Bytes after the trailer are reserved for future versions.
    flags = try reader.lengthPrefixed().filter { $0 & Self.flagsMark != 0 }
      .reduce(into: Flags()) { $0.formUnion(Flags(rawValue: $1 & ~Self.flagsMark)) }
  }

  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.reserve(byteCountAtMost)
    writer.byte(version.rawValue)
    writer.hashes(heads)
    writer.hashes(need)
    writer.uleb(have.count)
    for each in have {
      writer.hashes(each.lastSync)
      writer.uleb(each.bloom.encodedByteCount)
      each.bloom.write(to: &writer)
    }
    writer.uleb(changes.count)
    for chunk in changes { writer.lengthPrefixed(chunk) }
    if let flags {
      writer.uleb(2)
      writer.byte(Self.readsV2)
      writer.byte(Self.flagsMark | flags.rawValue)
    }
    return writer.bytes
  }

  private var byteCountAtMost: Int {
    // Counts, lengths and flags.
    var count = 64 + 32 * (heads.count + need.count)
    for each in have { count += 32 * each.lastSync.count + each.bloom.encodedByteCount + 20 }
    for chunk in changes { count += chunk.count + 10 }
    return count
  }
}
