import Foundation

/// The SHA-256 of a change's bytes: its name everywhere.
public struct ChangeHash: Hashable, Sendable, CustomStringConvertible {
  /// Always 32.
  public let bytes: [UInt8]

  /// Nil unless there are exactly 32 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  public var description: String { bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}

extension ChangeHash: Comparable {
  public static func < (left: ChangeHash, right: ChangeHash) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}
