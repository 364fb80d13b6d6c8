/// Limits of a JSON text, so that a small one cannot ask for much memory or stack.
public struct JSONLimits: Sendable {
  /// How deep arrays and objects may nest.
  public var depth = 128
  /// How many values one text may hold. A value takes at most 64 bytes besides its text.
  public var valueCount = 4 << 20

  public init() {}
}

extension JSONValue {
  /// Reads one JSON text (RFC 8259, strictly) that fills `bytes`.
  /// - Complexity: O(n) in the number of bytes.
  public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var parser = JSONParser(bytes: bytes, limits: limits)
    self = try parser.parseText()
  }

  public init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }
}

/// A recursive-descent reader over the bytes of one text.
struct JSONParser {
  let bytes: [UInt8]
  var position = 0
  private var depthLeft: Int
  private var valuesLeft: Int

  init(bytes: [UInt8], limits: JSONLimits) {
    self.bytes = bytes
    depthLeft = limits.depth
    valuesLeft = limits.valueCount
  }

  mutating func parseText() throws(JSONError) -> JSONValue {
    skipWhitespace()
    let value = try parseValue()
    skipWhitespace()
    guard position == bytes.count else { throw .unexpectedByte(bytes[position], at: position) }
    return value
  }

  private mutating func parseValue() throws(JSONError) -> JSONValue {
    guard valuesLeft > 0 else { throw .tooManyValues(at: position) }
    valuesLeft -= 1
    let byte = try peek()
    switch byte {
    case UInt8(ascii: "\""): return .string(try parseString())
    case UInt8(ascii: "{"): return .object(try parseObject())
    case UInt8(ascii: "["): return .array(try parseArray())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber()
    case UInt8(ascii: "t"): return try parseWord("true", .bool(true))
    case UInt8(ascii: "f"): return try parseWord("false", .bool(false))
    case UInt8(ascii: "n"): return try parseWord("null", .null)
    default: throw .unexpectedByte(byte, at: position)
    }
  }

  private mutating func parseObject() throws(JSONError) -> JSONObject {
    try enter()
    var object = JSONObject()
    if try peekPastWhitespace() == UInt8(ascii: "}") {
      leave()
      return object
    }
    while true {
      guard try peekPastWhitespace() == UInt8(ascii: "\"") else { throw .unexpectedByte(bytes[position], at: position) }
      let key = try parseString()
      guard try peekPastWhitespace() == UInt8(ascii: ":") else { throw .unexpectedByte(bytes[position], at: position) }
      position += 1
      skipWhitespace()
      object[key] = try parseValue()
      switch try peekPastWhitespace() {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "}"):
        leave()
        return object
      case let byte: throw .unexpectedByte(byte, at: position)
      }
    }
  }

  private mutating func parseArray() throws(JSONError) -> [JSONValue] {
    try enter()
    var elements: [JSONValue] = []
    if try peekPastWhitespace() == UInt8(ascii: "]") {
      leave()
      return elements
    }
    while true {
      skipWhitespace()
      elements.append(try parseValue())
      switch try peekPastWhitespace() {
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

  private mutating func parseWord(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
    for offset in 0..<word.utf8CodeUnitCount {
      guard try peek() == word.utf8Start[offset] else { throw .unexpectedByte(bytes[position], at: position) }
      position += 1
    }
    return value
  }

  func peek() throws(JSONError) -> UInt8 {
    guard position < bytes.count else { throw .unexpectedEnd }
    return bytes[position]
  }

  private mutating func peekPastWhitespace() throws(JSONError) -> UInt8 {
    skipWhitespace()
    return try peek()
  }

  private mutating func skipWhitespace() {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
      default: return
      }
    }
  }
}
