import Cryptography

/// The place of a change in memory that holds chunks; its checksum has been verified.
struct ChangeFrame {
  /// The chunk's place in the memory.
  let chunk: Range<Int>
  /// The body's place in the memory; the next chunk begins after it.
  let body: Range<Int>
  let hash: ChangeHash

  /// Nil unless a complete, valid, uncompressed change begins at `offset`.
  init?(_ memory: UnsafeBufferPointer<UInt8>, at offset: Int) {
    var reader = MemoryReader(memory, from: offset)
    for byte in Chunk.magic where reader.byte() != byte { return nil }
    var checksum: UInt32 = 0
    for _ in 0..<4 { checksum = checksum << 8 | UInt32(reader.byte()) }
    let start = reader.offset
    guard reader.byte() == Chunk.Kind.change.rawValue else { return nil }
    let count = reader.lengthPrefixed().count
    guard reader.isGood else { return nil }
    body = reader.offset - count..<reader.offset
    chunk = offset..<reader.offset
    // The hashed bytes (type, length and body) are contiguous here.
    let hashed = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: memory[start..<reader.offset]))
    hash = ChangeHash(digest: SHA256.hash(bufferPointer: hashed))
    guard hash.begins(with: checksum) else { return nil }
  }

  /// The changes that this change depends on; nil if they cannot be read.
  func deps(in memory: UnsafeBufferPointer<UInt8>) -> [ChangeHash]? {
    var reader = MemoryReader(UnsafeBufferPointer(rebasing: memory[body])), deps: [ChangeHash] = []
    for _ in 0..<reader.uleb() {
      guard let hash = reader.hash() else { return nil }
      deps.append(hash)
    }
    return reader.isGood ? deps : nil
  }

  /// Whether the change depends on the other one and nothing else.
  func follows(_ other: ChangeHash, in memory: UnsafeBufferPointer<UInt8>) -> Bool {
    var reader = MemoryReader(memory, from: body.lowerBound)
    return reader.uleb() == 1 && reader.hash() == other
  }
}
