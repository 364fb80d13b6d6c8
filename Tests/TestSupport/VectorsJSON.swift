import Foundation

/// JSON to look things up in. What is not there reads as `null`.
public enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  public static func parse(_ data: Data) throws -> JSON {
    // Foundation drops byte order marks inside strings, but not escaped ones.
    var escaped = data
    let mark = Data([0xef, 0xbb, 0xbf])
    while let found = escaped.range(of: mark) { escaped.replaceSubrange(found, with: Data("\\ufeff".utf8)) }
    return JSON(try JSONSerialization.jsonObject(with: escaped, options: .fragmentsAllowed))
  }

  private init(_ value: Any) {
    switch value {
    case let value as String: self = .string(value)
    case let value as [Any]: self = .array(value.map(JSON.init))
    case let value as [String: Any]: self = .object(value.mapValues(JSON.init))
    // Foundation keeps a boolean as a number, of the C type `char`.
    case let value as NSNumber where value.objCType.pointee == CChar(bitPattern: UInt8(ascii: "c")):
      self = .bool(value.boolValue)
    case let value as NSNumber: self = .number(value.doubleValue)
    default: self = .null
    }
  }

  public subscript(key: String) -> JSON {
    if case .object(let members) = self { members[key] ?? .null } else { .null }
  }

  public subscript(index: Int) -> JSON {
    if case .array(let items) = self, items.indices.contains(index) { items[index] } else { .null }
  }

  public var isNull: Bool { self == .null }
  public var items: [JSON] { if case .array(let items) = self { items } else { [] } }
  public var members: [String: JSON] { if case .object(let members) = self { members } else { [:] } }
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var int: Int? { if case .number(let value) = self { Int(exactly: value) } else { nil } }
  /// Bytes given as hexadecimal digits.
  public var hex: [UInt8]? { string.flatMap { Hex.bytes($0) } }
  public var strings: [String] { items.compactMap(\.string) }
}
