import Foundation

/// A key of a map, compared byte by byte; `String` considers canonically equivalent keys equal.
struct MapKey: Hashable, Comparable {
  let string: String

  init(_ string: String) {
    var string = string
    string.makeContiguousUTF8()
    self.string = string
  }

  static func == (left: MapKey, right: MapKey) -> Bool {
    left.withBytes { left in
      right.withBytes { right in
        guard left.count == right.count, let first = left.baseAddress, let second = right.baseAddress else {
          return left.count == right.count
        }
        return memcmp(first, second, left.count) == 0
      }
    }
  }

  static func < (left: MapKey, right: MapKey) -> Bool {
    left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
  }

  func hash(into hasher: inout Hasher) {
    withBytes { hasher.combine(bytes: $0) }
    hasher.combine(UInt8(0xFF))
  }

  /// - Complexity: O(1), as the string is contiguous
  private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    var string = string
    return string.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }
}
