/// One step of a path into a document: the key of a map, or the index of a list.
///
/// Build such paths from it by hand, or from text with `AnyCodingKey.parsePath("list.[2].title")`.
public struct AnyCodingKey: Hashable, Sendable {
  private let prop: Prop

  public init(_ pathProperty: Prop) { prop = pathProperty }

  public init(_ element: PathElement) { prop = element.prop }

  /// The index of `key` if it has one that is not negative, otherwise its name.
  public init(_ key: some CodingKey) {
    if let index = key.intValue.flatMap({ UInt64(exactly: $0) }) {
      prop = .Index(index)
    } else {
      prop = .Key(key.stringValue)
    }
  }

  public init(_ stringVal: String) { prop = .Key(stringVal) }

  public init(_ intValue: UInt64) { prop = .Index(intValue) }

  /// A key without a name, which means the root of the document.
  public static let ROOT = AnyCodingKey("")
}

extension AnyCodingKey: CodingKey {
  public init?(stringValue: String) { self.init(stringValue) }

  /// Nil for a negative number.
  public init?(intValue: Int) {
    guard let index = UInt64(exactly: intValue) else { return nil }
    self.init(index)
  }

  /// The key of a map; for an index, its decimal digits.
  public var stringValue: String {
    switch prop {
    case .Key(let key): key
    case .Index(let index): String(index)
    }
  }

  /// The index of a list, at most `Int.max`; nil for the key of a map.
  public var intValue: Int? {
    switch prop {
    case .Key: nil
    case .Index(let index): Int(clamping: index)
    }
  }
}

extension AnyCodingKey: CustomStringConvertible {
  /// The key, or the index in brackets: the form that `parsePath` reads.
  public var description: String {
    switch prop {
    case .Key(let key): key
    case .Index(let index): "[\(index)]"
    }
  }
}

extension AnyCodingKey {
  /// Reads a path such as `.list.[2].title`: steps separated by dots, with or without a dot before the first. A step is
  /// a key that begins with a letter or an underscore, or an index in brackets. The empty path means the root.
  ///
  /// A key that this form cannot express, such as one with a dot, is made with `AnyCodingKey(_:)`. Throws
  /// `PathParseError`.
  public static func parsePath(_ path: String) throws -> [AnyCodingKey] {
    try path.split(separator: ".").map(step)
  }

  private static func step(_ text: Substring) throws(PathParseError) -> AnyCodingKey {
    guard let first = text.first else { throw .InvalidPathElement("") }
    if first.isLetter || first == "_" { return AnyCodingKey(String(text)) }
    guard first == "[", text.last == "]", text.count >= 2 else { throw .InvalidPathElement(String(text)) }
    let digits = text.dropFirst().dropLast()
    guard digits.allSatisfy(\.isASCII), digits.allSatisfy(\.isNumber), let index = UInt64(digits) else {
      throw .EmptyListIndex(String(text))
    }
    return AnyCodingKey(index)
  }
}

extension Sequence where Element == AnyCodingKey {
  /// The path in the form that `parsePath` reads: `.list.[2].title`.
  public func stringPath() -> String { "." + map(\.description).joined(separator: ".") }
}

extension Sequence where Element == any CodingKey {
  /// The path in the form that `AnyCodingKey.parsePath` reads: `.list.[2].title`.
  public func stringPath() -> String { map { AnyCodingKey($0) }.stringPath() }
}

extension Sequence where Element == PathElement {
  /// The path in the form that `AnyCodingKey.parsePath` reads: `.list.[2].title`.
  public func stringPath() -> String { map { AnyCodingKey($0) }.stringPath() }
}
