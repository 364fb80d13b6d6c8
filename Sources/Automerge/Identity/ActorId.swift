import Foundation

/// The name of a writer: any bytes, at most 128 of them, never used by two writers at once.
public struct ActorId: Hashable, Sendable, CustomStringConvertible {
  public let bytes: [UInt8]

  /// A random actor id of 16 bytes.
  public init() {
    self.init(uuid: UUID())
  }

  public init(uuid: UUID) {
    bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
  }

  /// Nil if `data` is longer than 128 bytes.
  public init?(data: Data) {
    guard data.count <= 128 else { return nil }
    bytes = Array(data)
  }

  /// Takes bytes whose length the caller has checked.
  init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  public func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  public var data: Data { Data(bytes) }

  /// The bytes in lower-case hexadecimal, as files, cursors and other implementations of Automerge write them.
  public var hexadecimal: String { hexadecimal(digits: "0123456789abcdef") }

  /// The bytes in upper-case hexadecimal.
  public var description: String { hexadecimal(digits: "0123456789ABCDEF") }

  private func hexadecimal(digits: StaticString) -> String {
    String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
      for (place, byte) in bytes.enumerated() {
        text[2 * place] = digits.utf8Start[Int(byte >> 4)]
        text[2 * place + 1] = digits.utf8Start[Int(byte & 15)]
      }
      return 2 * bytes.count
    }
  }
}

extension ActorId: Comparable {
  /// Byte order; a prefix is smaller. Decides which of two operations with equal counters is greater.
  public static func < (left: ActorId, right: ActorId) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

extension ActorId {
  /// The actor that `hexadecimal` or `description` names; nil unless the text is an even number of hexadecimal digits,
  /// at most 256.
  public init?(hexadecimal: String) {
    let digits = Array(hexadecimal.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
    }
    guard bytes.count * 2 == digits.count else { return nil }
    self.init(data: Data(bytes))
  }
}
