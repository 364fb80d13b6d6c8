import Cryptography
import Foundation

/// The SHA-256 of a change's bytes, which names it everywhere.
public struct ChangeHash: Hashable, Sendable, CustomStringConvertible {
  /// The 32 bytes as four big-endian numbers, so that hashes compare and hash without a heap allocation.
  private let a, b, c, d: UInt64

  /// Nil unless there are exactly 32 bytes.
  public init?(bytes: [UInt8]) { self.init(slice: bytes[...]) }

  package init?(slice: ArraySlice<UInt8>) {
    guard slice.count == 32 else { return nil }
    (a, b, c, d) = slice.withUnsafeBytes { Self.words($0) }
  }

  /// Takes the first 32 bytes of memory that has them.
  init(memory: UnsafeRawBufferPointer) {
    precondition(memory.count >= 32, "a hash has 32 bytes")
    (a, b, c, d) = Self.words(memory)
  }

  init(digest: SHA256.Digest) {
    (a, b, c, d) = digest.withUnsafeBytes { Self.words($0) }
  }

  /// Always 32.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  public var description: String {
    [a, b, c, d].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  package func append(to bytes: inout [UInt8]) {
    withUnsafeBytes(of: (a.bigEndian, b.bigEndian, c.bigEndian, d.bigEndian)) { bytes.append(contentsOf: $0) }
  }

  /// Whether these four bytes are the hash's first ones.
  func begins(with checksum: ArraySlice<UInt8>) -> Bool {
    checksum.count == 4 && checksum.reduce(0) { $0 << 8 | UInt64($1) } == a >> 32
  }

  /// Whether this is the big-endian number of the hash's first four bytes.
  func begins(with checksum: UInt32) -> Bool { UInt32(truncatingIfNeeded: a >> 32) == checksum }

  /// The first eight bytes as a big-endian number; as good as random.
  var word: UInt64 { a }

  /// The bytes are a hash already.
  public func hash(into hasher: inout Hasher) { hasher.combine(a) }

  /// Writes the 32 bytes to a place with room for them.
  func store(to target: UnsafeMutablePointer<UInt8>) {
    let target = UnsafeMutableRawPointer(target)
    target.storeBytes(of: a.bigEndian, as: UInt64.self)
    target.storeBytes(of: b.bigEndian, toByteOffset: 8, as: UInt64.self)
    target.storeBytes(of: c.bigEndian, toByteOffset: 16, as: UInt64.self)
    target.storeBytes(of: d.bigEndian, toByteOffset: 24, as: UInt64.self)
  }

  /// Three little-endian numbers, of the first twelve bytes, from which a Bloom filter derives its probes.
  var bloomWords: (UInt32, UInt32, UInt32) {
    (
      UInt32(truncatingIfNeeded: a >> 32).byteSwapped, UInt32(truncatingIfNeeded: a).byteSwapped,
      UInt32(truncatingIfNeeded: b >> 32).byteSwapped
    )
  }

  private static func words(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
    func word(_ index: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
    }
    return (word(0), word(1), word(2), word(3))
  }
}

extension ChangeHash: CustomDebugStringConvertible {
  public var debugDescription: String { description }
}

extension ChangeHash: Comparable {
  /// Byte order.
  public static func < (left: ChangeHash, right: ChangeHash) -> Bool {
    (left.a, left.b, left.c, left.d) < (right.a, right.b, right.c, right.d)
  }
}
