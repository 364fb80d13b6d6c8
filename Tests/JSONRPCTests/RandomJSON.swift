import JSONRPC

/// Random values with what is hard for a codec: escapes, characters of every length, extreme numbers, empty things.
struct RandomJSON<Generator: RandomNumberGenerator> {
  var generator: Generator

  mutating func value(depth: Int = 5) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &generator))
    case 2: return .int(Int64(bitPattern: UInt64.random(in: 0...UInt64.max, using: &generator)))
    case 3: return .int(Int64.random(in: -100...100, using: &generator))
    case 4: return .double(double())
    case 5: return .string(string())
    case 6: return .array((0..<length()).map { _ in value(depth: depth - 1) })
    default:
      var object = JSONObject()
      for _ in 0..<length() { object[string()] = value(depth: depth - 1) }
      return .object(object)
    }
  }

  mutating func length() -> Int {
    Int.random(in: 0..<10, using: &generator) == 0
      ? Int.random(in: 0...40, using: &generator) : Int.random(in: 0...4, using: &generator)
  }

  mutating func double() -> Double {
    while true {
      let value = Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &generator))
      if value.isFinite { return value }
    }
  }

  mutating func string() -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<length() {
      let range: ClosedRange<UInt32> =
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: 0...0x1f
        case 1: 0x20...0x7f
        case 2: 0x80...0x7ff
        case 3: 0xe000...0xffff
        default: 0x10000...0x10ffff
        }
      if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) { text.append(scalar) }
    }
    return String(text)
  }
}
