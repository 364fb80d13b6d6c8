/// A JSON text as a value: the content of a message before it is decoded into a type.
///
/// Strings and keys are equal if their UTF-8 bytes are; the two Unicode spellings of `"é"` are two different strings.
/// The order of an object's members does not matter.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  /// A number with a fraction or an exponent, or an integer beyond `Int64`. If it is not finite, it is written as
  /// `null`.
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

extension JSONValue {
  public init(_ value: Int) { self = .int(Int64(value)) }
  public init(_ value: Bool) { self = .bool(value) }
  public init(_ value: Double) { self = .double(value) }
  public init(_ value: String) { self = .string(value) }
  public init(_ values: [JSONValue]) { self = .array(values) }
  public init(_ values: [String]) { self = .array(values.map(JSONValue.string)) }

  /// An object without the members whose value is `nil`.
  public static func object(present members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    var object = JSONObject()
    for (key, value) in members {
      if let value { object[key] = value }
    }
    return .object(object)
  }

  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  public var boolValue: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The integer, even if it was written as `1.0` or `1e3`.
  public var intValue: Int? {
    switch self {
    case .int(let value): Int(exactly: value)
    case .double(let value): value.exactInt64.flatMap { Int(exactly: $0) }
    case .null, .bool, .string, .array, .object: nil
    }
  }

  public var doubleValue: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    case .null, .bool, .string, .array, .object: nil
    }
  }

  public var stringValue: String? {
    if case .string(let value) = self { value } else { nil }
  }

  public var arrayValue: [JSONValue]? {
    if case .array(let value) = self { value } else { nil }
  }

  public var objectValue: JSONObject? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The member of an object; nil if there is none or this is not an object.
  public subscript(key: String) -> JSONValue? {
    if case .object(let object) = self { object[key] } else { nil }
  }

  /// The element of an array; nil outside of its bounds or if this is not an array.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }
}

extension JSONValue: Hashable {
  public static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let x), .bool(let y)): x == y
    case (.int(let x), .int(let y)): x == y
    case (.double(let x), .double(let y)): x == y
    case (.string(let x), .string(let y)): x.hasSameBytes(as: y)
    case (.array(let x), .array(let y)): x == y
    case (.object(let x), .object(let y)): x == y
    case (.null, _), (.bool, _), (.int, _), (.double, _), (.string, _), (.array, _), (.object, _): false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .array(let values): hasher.combine(values)
    case .object(let object): hasher.combine(object)
    }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .int(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(JSONObject(members)) }
}

extension JSONValue: CustomStringConvertible {
  /// The value as compact JSON text.
  public var description: String { String(decoding: encoded(), as: UTF8.self) }
}

extension Double {
  /// The integer with this value; nil if it has a fraction or is beyond `Int64`.
  ///
  /// `Int64(exactly:)` does the same but calls `trunc`, and so needs the C library's mathematics where nothing else does.
  var exactInt64: Int64? {
    guard self >= -0x1p63, self < 0x1p63 else { return nil }
    let integer = Int64(self)
    return Double(integer) == self ? integer : nil
  }
}
