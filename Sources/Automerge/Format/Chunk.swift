import Cryptography

/// One framed piece of a file or message: a document, a change, or a bundle.
struct Chunk {
  enum Kind: UInt8 {
    case document = 0
    case change = 1
    /// Occurs only in a frame. A reader turns it into a `change`.
    case compressedChange = 2
    case bundle = 3
  }

  let kind: Kind
  /// The content; a compressed change's is inflated.
  let body: ArraySlice<UInt8>
  /// The SHA-256 of type, length and body. It names a change.
  let hash: ChangeHash

  static let magic: [UInt8] = [0x85, 0x6f, 0x4a, 0x83]
  /// A change whose whole chunk is longer than this is sent and stored compressed, where compressed changes are used.
  static let compressionThreshold = 256

  static func hash(_ kind: Kind, body: some Collection<UInt8>) -> ChangeHash {
    var head = ByteWriter()
    head.byte(kind.rawValue)
    head.uleb(body.count)
    var sha = SHA256()
    sha.update(data: head.bytes)
    let done: Void? = body.withContiguousStorageIfAvailable { sha.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    if done == nil { sha.update(data: Array(body)) }
    return ChangeHash(digest: sha.finalize())
  }

  /// The frame around a body, with the hash that is computed for it.
  static func encode(_ kind: Kind, body: [UInt8]) -> (bytes: [UInt8], hash: ChangeHash) {
    let hash = hash(kind, body: body)
    return (frame(kind, body: body, checksum: hash), hash)
  }

  /// The compressed form of a change body whose hash is `hash`.
  static func encodeCompressed(changeBody body: [UInt8], hash: ChangeHash) -> [UInt8] {
    frame(.compressedChange, body: Deflate.deflate(body[...]), checksum: hash)
  }

  /// - Parameter checksum: the hash of kind and body
  static func frame(_ kind: Kind, body: [UInt8], checksum: ChangeHash) -> [UInt8] {
    var writer = ByteWriter()
    writer.reserve(body.count + 19)
    writer.raw(magic)
    writer.raw(checksum.bytes.prefix(4))
    writer.byte(kind.rawValue)
    writer.lengthPrefixed(body)
    return writer.bytes
  }
}
