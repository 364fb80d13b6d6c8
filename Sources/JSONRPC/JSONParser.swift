/// Limits of a JSON text, so that a small text cannot demand much memory or stack.
public struct JSONLimits: Sendable {
  /// How deeply arrays and objects may be nested.
  public var depth = 128
  /// How many values one text may contain. A value takes at most 40 bytes besides its text.
  public var valueCount = 4 << 20

  public init() {}
}

extension JSONValue {
  /// Reads one JSON text (RFC 8259, strictly) that fills `bytes`.
  /// - Complexity: O(n) in the number of bytes.
  public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var parser = JSONParser(limits: limits)
    self = try parser.parseText(bytes.span)
  }

  public init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }
}

/// A recursive-descent reader of the bytes of one text, which every method is passed, because a span cannot be stored
/// yet.
struct JSONParser {
  var position = 0
  private var depthLeft: Int
  private var valuesLeft: Int

  init(limits: JSONLimits) {
    depthLeft = limits.depth
    valuesLeft = limits.valueCount
  }

  mutating func parseText(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
    skipWhitespace(bytes)
    let value = try parseValue(bytes)
    skipWhitespace(bytes)
    guard position == bytes.count else { throw .unexpectedByte(bytes[position], at: position) }
    return value
  }

  private mutating func parseValue(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
    guard valuesLeft > 0 else { throw .tooManyValues(at: position) }
    valuesLeft -= 1
    let byte = try peek(bytes)
    switch byte {
    case UInt8(ascii: "\""): return .string(try parseString(bytes))
    case UInt8(ascii: "{"): return .object(try parseObject(bytes))
    case UInt8(ascii: "["): return .array(try parseArray(bytes))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber(bytes)
    case UInt8(ascii: "t"): return try parseWord(bytes, "true", .bool(true))
    case UInt8(ascii: "f"): return try parseWord(bytes, "false", .bool(false))
    case UInt8(ascii: "n"): return try parseWord(bytes, "null", .null)
    default: throw .unexpectedByte(byte, at: position)
    }
  }

  private mutating func parseObject(_ bytes: Span<UInt8>) throws(JSONError) -> JSONObject {
    try enter()
    var object = JSONObject()
    if try peekPastWhitespace(bytes) == UInt8(ascii: "}") {
      leave()
      return object
    }
    while true {
      guard try peekPastWhitespace(bytes) == UInt8(ascii: "\"") else {
        throw .unexpectedByte(bytes[position], at: position)
      }
      let key = try parseString(bytes)
      guard try peekPastWhitespace(bytes) == UInt8(ascii: ":") else {
        throw .unexpectedByte(bytes[position], at: position)
      }
      position += 1
      skipWhitespace(bytes)
      object.set(key, try parseValue(bytes))
      switch try peekPastWhitespace(bytes) {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "}"):
        leave()
        return object
      case let byte: throw .unexpectedByte(byte, at: position)
      }
    }
  }

  private mutating func parseArray(_ bytes: Span<UInt8>) throws(JSONError) -> [JSONValue] {
    try enter()
    var elements: [JSONValue] = []
    if try peekPastWhitespace(bytes) == UInt8(ascii: "]") {
      leave()
      return elements
    }
    while true {
      skipWhitespace(bytes)
      elements.append(try parseValue(bytes))
      switch try peekPastWhitespace(bytes) {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "]"):
        leave()
        return elements
      case let byte: throw .unexpectedByte(byte, at: position)
      }
    }
  }

  private mutating func enter() throws(JSONError) {
    guard depthLeft > 0 else { throw .tooDeep(at: position) }
    depthLeft -= 1
    position += 1
  }

  private mutating func leave() {
    depthLeft += 1
    position += 1
  }

  private mutating func parseWord(_ bytes: Span<UInt8>, _ word: StaticString, _ value: JSONValue) throws(JSONError)
    -> JSONValue
  {
    for offset in 0..<word.utf8CodeUnitCount {
      guard try peek(bytes) == word.utf8Start[offset] else { throw .unexpectedByte(bytes[position], at: position) }
      position += 1
    }
    return value
  }

  func peek(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
    guard position < bytes.count else { throw .unexpectedEnd }
    return bytes[position]
  }

  private mutating func peekPastWhitespace(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
    skipWhitespace(bytes)
    return try peek(bytes)
  }

  private mutating func skipWhitespace(_ bytes: Span<UInt8>) {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
      default: return
      }
    }
  }
}
