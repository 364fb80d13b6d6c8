extension JSONParser {
  /// A number has at most this many bytes; 767 digits decide any `Double`.
  private static var maximumNumberByteCount: Int { 1_024 }

  mutating func parseNumber() throws(JSONError) -> JSONValue {
    let start = position
    let isNegative = bytes[position] == UInt8(ascii: "-")
    if isNegative { position += 1 }
    var magnitude: UInt64 = 0
    var fitsInt64 = true
    let firstDigit = position
    while position < bytes.count, let digit = Self.digit(bytes[position]) {
      let (product, productOverflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, sumOverflow) = product.addingReportingOverflow(UInt64(digit))
      magnitude = sum
      if productOverflow || sumOverflow { fitsInt64 = false }
      position += 1
    }
    let digitCount = position - firstDigit
    guard digitCount == 1 || (digitCount > 1 && bytes[firstDigit] != UInt8(ascii: "0")) else {
      throw position < bytes.count || digitCount > 1 ? .invalidNumber(at: start) : .unexpectedEnd
    }
    let hasFraction = try skipFraction(from: start)
    let hasExponent = try skipExponent(from: start)
    if !hasFraction, !hasExponent, fitsInt64 {
      if !isNegative, let value = Int64(exactly: magnitude) { return .int(value) }
      if isNegative, magnitude <= UInt64(Int64.max) + 1 { return .int(Int64(truncatingIfNeeded: 0 &- magnitude)) }
    }
    guard position - start <= Self.maximumNumberByteCount else { throw .numberTooLarge(at: start) }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let value = Double(text) else { throw .invalidNumber(at: start) }
    guard value.isFinite else { throw .numberTooLarge(at: start) }
    return .double(value)
  }

  private mutating func skipFraction(from start: Int) throws(JSONError) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: ".") else { return false }
    position += 1
    try skipDigits(from: start)
    return true
  }

  private mutating func skipExponent(from start: Int) throws(JSONError) -> Bool {
    guard position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") else { return false }
    position += 1
    if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
      position += 1
    }
    try skipDigits(from: start)
    return true
  }

  private mutating func skipDigits(from start: Int) throws(JSONError) {
    let first = position
    while position < bytes.count, Self.digit(bytes[position]) != nil { position += 1 }
    guard position > first else { throw position < bytes.count ? .invalidNumber(at: start) : .unexpectedEnd }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    let value = byte &- UInt8(ascii: "0")
    return value < 10 ? value : nil
  }

  mutating func parseString() throws(JSONError) -> String {
    let quote = position
    position += 1
    let start = position
    try skipPlainBytes()
    if bytes[position] == UInt8(ascii: "\"") {
      defer { position += 1 }
      return try text(of: bytes[start..<position], at: quote)
    }
    // Escapes are rare, except for line ends in whole texts: copy the bytes between them in one go.
    var decoded = Array(bytes[start..<position])
    while bytes[position] == UInt8(ascii: "\\") {
      try decodeEscape(into: &decoded)
      let plain = position
      try skipPlainBytes()
      decoded.append(contentsOf: bytes[plain..<position])
    }
    position += 1
    return try text(of: decoded[...], at: quote)
  }

  /// Moves to the next quote or backslash.
  private mutating func skipPlainBytes() throws(JSONError) {
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
      guard byte >= 0x20 else { throw .controlCharacter(at: position) }
      position += 1
    }
    throw .unexpectedEnd
  }

  private func text(of slice: ArraySlice<UInt8>, at quote: Int) throws(JSONError) -> String {
    guard let text = String(validating: slice, as: UTF8.self) else { throw .invalidUTF8(at: quote) }
    return text
  }

  private mutating func decodeEscape(into decoded: inout [UInt8]) throws(JSONError) {
    let start = position
    position += 1
    let letter = try peek()
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(letter)
    case UInt8(ascii: "b"): decoded.append(0x08)
    case UInt8(ascii: "f"): decoded.append(0x0C)
    case UInt8(ascii: "n"): decoded.append(0x0A)
    case UInt8(ascii: "r"): decoded.append(0x0D)
    case UInt8(ascii: "t"): decoded.append(0x09)
    case UInt8(ascii: "u"): decoded.append(contentsOf: try parseUnicodeEscape(from: start))
    default: throw .invalidEscape(at: start)
    }
  }

  private mutating func parseUnicodeEscape(from start: Int) throws(JSONError) -> Unicode.UTF8.EncodedScalar {
    var value = try parseHexDigits(from: start)
    if value >> 10 == 0xD800 >> 10 {
      guard position + 1 < bytes.count else { throw .unexpectedEnd }
      guard bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u") else {
        throw .loneSurrogate(at: start)
      }
      position += 2
      let low = try parseHexDigits(from: start)
      guard low >> 10 == 0xDC00 >> 10 else { throw .loneSurrogate(at: start) }
      value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
    }
    guard let scalar = Unicode.Scalar(value), let encoded = UTF8.encode(scalar) else { throw .loneSurrogate(at: start) }
    return encoded
  }

  private mutating func parseHexDigits(from start: Int) throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      let byte = try peek()
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: throw .invalidEscape(at: start)
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }
}
