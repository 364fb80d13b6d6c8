import Foundation

/// A CBOR value (RFC 8949): the form of messages between peers and of records in the store.
///
/// Decoding is tolerant: lengths may be indefinite, integers may be encoded as floats, and tags are dropped unless the limits keep them.
/// Encoding is plain: definite lengths, shortest integers, map entries in the order given.
public indirect enum CBOR: Hashable, Sendable {
  case unsigned(UInt64)
  /// The number −1 − n.
  case negative(UInt64)
  case bytes(Data)
  case text(String)
  case array([CBOR])
  /// In the order of the bytes. If a key occurs twice, the last entry counts.
  case map([Entry])
  case bool(Bool)
  case null
  case undefined
  case float(Double)
  case simple(UInt8)
  /// A value with a tag that says what it means: 37 for a UUID's bytes, 64 for an array of bytes, 55799 for CBOR
  /// itself. The properties below ignore the tag.
  case tagged(UInt64, CBOR)

  /// One key of a map with its value.
  public struct Entry: Hashable, Sendable {
    public var key: CBOR
    public var value: CBOR

    public init(_ key: CBOR, _ value: CBOR) {
      (self.key, self.value) = (key, value)
    }
  }
}

extension CBOR {
  /// A map with text keys, in the order given; entries without a value are left out.
  public static func record(_ entries: KeyValuePairs<String, CBOR?>) -> CBOR {
    .map(entries.compactMap { key, value in value.map { Entry(.text(key), $0) } })
  }

  public static func integer(_ value: Int) -> CBOR {
    value < 0 ? .negative(UInt64(-1 - value)) : .unsigned(UInt64(value))
  }

  /// The value at a text key of a map; nil if this is not a map, or the key is missing, or its value is null or undefined.
  /// - Complexity: O(n) in the entries.
  public subscript(key: String) -> CBOR? {
    guard let entries else { return nil }
    for entry in entries.reversed() {
      guard case .text(let name) = entry.key, name == key else { continue }
      return entry.value.isAbsent ? nil : entry.value
    }
    return nil
  }

  /// Whether the value is null or undefined.
  public var isAbsent: Bool {
    switch untagged {
    case .null, .undefined: true
    case .unsigned, .negative, .bytes, .text, .array, .map, .bool, .float, .simple, .tagged: false
    }
  }

  /// The value without the tags around it.
  public var untagged: CBOR {
    var value = self
    while case .tagged(_, let inner) = value { value = inner }
    return value
  }

  public var text: String? {
    if case .text(let text) = untagged { text } else { nil }
  }

  public var bytes: Data? {
    if case .bytes(let bytes) = untagged { bytes } else { nil }
  }

  public var bool: Bool? {
    if case .bool(let bool) = untagged { bool } else { nil }
  }

  public var array: [CBOR]? {
    if case .array(let array) = untagged { array } else { nil }
  }

  public var entries: [Entry]? {
    if case .map(let entries) = untagged { entries } else { nil }
  }

  /// The value as a count. A float without a fraction counts too, because JavaScript writes counts beyond 2^32 that
  /// way.
  public var unsigned: UInt64? {
    switch untagged {
    case .unsigned(let value): value
    case .float(let value): UInt64(exactly: value)
    case .negative, .bytes, .text, .array, .map, .bool, .null, .undefined, .simple, .tagged: nil
    }
  }

  /// The value as a signed integer, from a float too if it has no fraction.
  public var integer: Int? {
    switch untagged {
    case .unsigned(let value): Int(exactly: value)
    case .negative(let value): Int(exactly: value).map { -1 - $0 }
    case .float(let value): Int(exactly: value)
    case .bytes, .text, .array, .map, .bool, .null, .undefined, .simple, .tagged: nil
    }
  }

  /// The value as a floating-point number, also from an integer.
  public var double: Double? {
    switch untagged {
    case .float(let value): value
    case .unsigned(let value): Double(value)
    case .negative(let value): -1 - Double(value)
    case .bytes, .text, .array, .map, .bool, .null, .undefined, .simple, .tagged: nil
    }
  }
}

extension CBOR: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
  public init(stringLiteral value: String) { self = .text(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int) { self = .integer(value) }
}
