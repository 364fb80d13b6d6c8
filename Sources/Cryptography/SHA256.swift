import CCrypto

/// SHA-256 of bytes that come in pieces. Source: FIPS 180-4.
///
/// OpenSSL uses the processor's SHA instructions where there are some.
/// - Complexity: O(*n*); allocates nothing
public struct SHA256: Sendable {
  public static let byteCount = 32

  private var context = SHA256_CTX()

  public init() { SHA256_Init(&context) }

  public mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    SHA256_Update(&context, start, bytes.count)
  }

  @inlinable
  public mutating func update(data: some Sequence<UInt8>) {
    let done: Void? = data.withContiguousStorageIfAvailable { update(bufferPointer: UnsafeRawBufferPointer($0)) }
    if done == nil { Array(data).withUnsafeBytes { update(bufferPointer: $0) } }
  }

  /// The hash of what was added. More can be added afterwards.
  public func finalize() -> Digest {
    var context = context, digest = Digest()
    withUnsafeMutableBytes(of: &digest.words) {
      _ = SHA256_Final($0.baseAddress?.assumingMemoryBound(to: UInt8.self), &context)
    }
    return digest
  }

  public static func hash(bufferPointer bytes: UnsafeRawBufferPointer) -> Digest {
    var hash = SHA256()
    hash.update(bufferPointer: bytes)
    return hash.finalize()
  }

  @inlinable
  public static func hash(data: some Sequence<UInt8>) -> Digest {
    var hash = SHA256()
    hash.update(data: data)
    return hash.finalize()
  }

  /// The 32 bytes of a hash, without an allocation.
  public struct Digest: Hashable, Sendable, RandomAccessCollection {
    /// The bytes as they stand in memory.
    fileprivate var words = Words()

    fileprivate struct Words: Hashable, Sendable { var a: UInt64 = 0, b: UInt64 = 0, c: UInt64 = 0, d: UInt64 = 0 }

    fileprivate init() {}

    public var startIndex: Int { 0 }
    public var endIndex: Int { SHA256.byteCount }
    public subscript(index: Int) -> UInt8 { withUnsafeBytes { $0[index] } }

    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
      try Swift.withUnsafeBytes(of: words, body)
    }

    public func withContiguousStorageIfAvailable<Result>(
      _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
      try withUnsafeBytes { try $0.withMemoryRebound(to: UInt8.self, body) }
    }
  }
}
