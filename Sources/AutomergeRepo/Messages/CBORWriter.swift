import Automerge
import Foundation

/// Writes CBOR piece by piece, without building a tree of values first: for messages that every keystroke sends.
///
/// After `map` or `array` the caller must write as many values as it announced.
public struct CBORWriter {
  public var output: [UInt8]

  /// - Parameter output: the bytes to append to.
  public init(after output: [UInt8] = []) { self.output = output }

  /// A writer with room for that many bytes.
  public init(reserving byteCount: Int) {
    output = []
    output.reserveCapacity(byteCount)
  }

  /// Announces that many keys, each followed by its value.
  public mutating func map(_ count: Int) { CBOR.head(5, UInt64(count), into: &output) }

  /// Announces that many values.
  public mutating func array(_ count: Int) { CBOR.head(4, UInt64(count), into: &output) }

  public mutating func integer(_ value: Int) {
    if value < 0 {
      CBOR.head(1, UInt64(-1 - value), into: &output)
    } else {
      CBOR.head(0, UInt64(value), into: &output)
    }
  }

  public mutating func text(_ text: String) {
    CBOR.head(3, UInt64(text.utf8.count), into: &output)
    output.append(contentsOf: text.utf8)
  }

  public mutating func bytes(_ bytes: [UInt8]) {
    CBOR.head(2, UInt64(bytes.count), into: &output)
    output.append(contentsOf: bytes)
  }

  public mutating func bytes(_ data: Data) {
    CBOR.head(2, UInt64(data.count), into: &output)
    data.withUnsafeBytes { output.append(contentsOf: $0) }
  }

  /// Writes the hashes in order, each as bytes.
  public mutating func hashes(_ hashes: Set<ChangeHash>) {
    array(hashes.count)
    for hash in hashes.count > 1 ? hashes.sorted() : Array(hashes) {
      CBOR.head(2, 32, into: &output)
      hash.append(to: &output)
    }
  }
}
