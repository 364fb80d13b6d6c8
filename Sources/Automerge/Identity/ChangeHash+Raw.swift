import Foundation

extension Set where Element == ChangeHash {
  /// The hashes, 32 bytes each, the greatest first. Equal sets give equal bytes.
  public func raw() -> Data { sorted(by: >).reduce(into: Data()) { $0.append(contentsOf: $1.bytes) } }
}

extension Data {
  /// The hashes that `raw()` wrote; nil unless the length is a multiple of 32.
  public func heads() -> Set<ChangeHash>? {
    guard count.isMultiple(of: 32) else { return nil }
    let bytes = Array(self)
    return Set(stride(from: 0, to: count, by: 32).compactMap { ChangeHash(bytes: Array(bytes[$0..<$0 + 32])) })
  }
}
