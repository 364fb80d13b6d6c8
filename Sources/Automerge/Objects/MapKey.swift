/// A key of a map, compared byte by byte; `String` considers canonically equivalent keys equal.
struct MapKey: Hashable, Comparable {
  let string: String

  init(_ string: String) { self.string = string }

  static func == (left: MapKey, right: MapKey) -> Bool { left.string.utf8.elementsEqual(right.string.utf8) }

  static func < (left: MapKey, right: MapKey) -> Bool {
    left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
  }

  func hash(into hasher: inout Hasher) {
    for byte in string.utf8 { hasher.combine(byte) }
    hasher.combine(UInt8(0xFF))
  }
}
