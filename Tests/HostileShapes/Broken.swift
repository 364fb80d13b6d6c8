/// Something that must hold of any foreign bytes, and does not.
public struct Broken: Error, CustomStringConvertible {
  public let description: String

  static func unless(_ holds: Bool, _ rule: @autoclosure () -> String) throws(Broken) {
    guard holds else { throw Broken(description: rule()) }
  }
}

/// Foreign bytes as a program: each byte decides what happens next. After the last one all are zero.
struct Script {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isOver: Bool { rest.isEmpty }

  mutating func next() -> UInt8 { rest.popFirst() ?? 0 }

  /// A number below `limit`, which is at most 256.
  mutating func below(_ limit: Int) -> Int { Int(next()) % limit }

  mutating func bit() -> Bool { next() & 1 == 1 }

  mutating func take(_ count: Int) -> ArraySlice<UInt8> {
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}
