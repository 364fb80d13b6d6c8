import Foundation

/// What a column counts, as `initialize` agrees on it.
public enum PositionEncoding: String, CaseIterable, Sendable {
  case utf8 = "utf-8"
  case utf16 = "utf-16"
  case utf32 = "utf-32"

  /// How many columns the scalar that starts with this byte takes.
  func width(ofScalarStartingWith byte: UInt8) -> Int {
    switch self {
    case .utf8: Self.byteCount(ofScalarStartingWith: byte)
    case .utf16: byte >= 0xf0 ? 2 : 1
    case .utf32: 1
    }
  }

  static func byteCount(ofScalarStartingWith byte: UInt8) -> Int {
    byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
  }
}

/// A line and a column, both from 0.
public struct Position: Equatable, Comparable, Sendable {
  public var line: Int
  public var character: Int

  public init(line: Int, character: Int) { (self.line, self.character) = (line, character) }

  public static func < (left: Position, right: Position) -> Bool {
    (left.line, left.character) < (right.line, right.character)
  }
}

/// The text of a buffer as plain bytes, written to be obviously right rather than fast.
public struct ModelText: Equatable, Sendable {
  public private(set) var bytes: [UInt8]
  public let encoding: PositionEncoding

  public init(_ text: String = "", encoding: PositionEncoding) {
    (bytes, self.encoding) = (Array(text.utf8), encoding)
  }

  public var string: String { String(decoding: bytes, as: UTF8.self) }

  /// Replaces a range of bytes that starts and ends between scalars.
  public mutating func replace(_ range: Range<Int>, with text: String) {
    bytes.replaceSubrange(range, with: text.utf8)
  }

  /// Where a position is in the bytes; past the end of its line or of the text means that end, within a scalar its start.
  public func offset(of position: Position) -> Int {
    var offset = 0
    for _ in 0..<max(position.line, 0) {
      guard let end = nextLineFeed(from: offset) else { return bytes.count }
      offset = end + 1
    }
    let end = nextLineFeed(from: offset) ?? bytes.count
    var left = position.character
    while offset < end {
      let width = encoding.width(ofScalarStartingWith: bytes[offset])
      if left < width { break }
      left -= width
      offset += PositionEncoding.byteCount(ofScalarStartingWith: bytes[offset])
    }
    return offset
  }

  /// The position of a place between scalars. - Complexity: O(offset)
  public func position(at offset: Int) -> Position {
    var line = 0
    var start = 0
    while let end = nextLineFeed(from: start), end < offset {
      line += 1
      start = end + 1
    }
    var character = 0
    while start < offset {
      character += encoding.width(ofScalarStartingWith: bytes[start])
      start += PositionEncoding.byteCount(ofScalarStartingWith: bytes[start])
    }
    return Position(line: line, character: character)
  }

  /// The start of the scalar that a place lies in.
  public func scalarStart(at offset: Int) -> Int {
    var offset = min(offset, bytes.count)
    while offset > 0, offset < bytes.count, bytes[offset] & 0xc0 == 0x80 { offset -= 1 }
    return offset
  }

  private func nextLineFeed(from offset: Int) -> Int? {
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress, offset < buffer.count,
        let found = memchr(base + offset, 10, buffer.count - offset)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }
}
