extension JSONParser {
  /// The most bytes of a number; 767 digits determine any `Double`.
  private static var maximumNumberByteCount: Int { 1_024 }

  mutating func parseNumber(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
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
    let hasFraction = try skipFraction(bytes, from: start)
    let hasExponent = try skipExponent(bytes, from: start)
    if !hasFraction, !hasExponent, fitsInt64 {
      if !isNegative, let value = Int64(exactly: magnitude) { return .int(value) }
      if isNegative, magnitude <= UInt64(Int64.max) + 1 { return .int(Int64(truncatingIfNeeded: 0 &- magnitude)) }
    }
    guard position - start <= Self.maximumNumberByteCount else { throw .numberTooLarge(at: start) }
    let text = bytes.extracting(start..<position).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    guard let value = Double(text) else { throw .invalidNumber(at: start) }
    guard value.isFinite else { throw .numberTooLarge(at: start) }
    return .double(value)
  }

  private mutating func skipFraction(_ bytes: Span<UInt8>, from start: Int) throws(JSONError) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: ".") else { return false }
    position += 1
    try skipDigits(bytes, from: start)
    return true
  }

  private mutating func skipExponent(_ bytes: Span<UInt8>, from start: Int) throws(JSONError) -> Bool {
    guard position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") else { return false }
    position += 1
    if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
      position += 1
    }
    try skipDigits(bytes, from: start)
    return true
  }

  private mutating func skipDigits(_ bytes: Span<UInt8>, from start: Int) throws(JSONError) {
    let first = position
    while position < bytes.count, Self.digit(bytes[position]) != nil { position += 1 }
    guard position > first else { throw position < bytes.count ? .invalidNumber(at: start) : .unexpectedEnd }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    let value = byte &- UInt8(ascii: "0")
    return value < 10 ? value : nil
  }

  mutating func parseString(_ bytes: Span<UInt8>) throws(JSONError) -> String {
    let quote = position
    position += 1
    let start = position
    var isASCII = try skipPlainBytes(bytes)
    if bytes[position] == UInt8(ascii: "\"") {
      let plain = bytes.extracting(start..<position)
      position += 1
      return try text(of: plain, isASCII: isASCII, at: quote)
    }
    // Escapes are rare, except for line ends in whole texts, so the bytes between them are copied at once.
    var decoded: [UInt8] = []
    decoded.append(contentsOf: bytes.extracting(start..<position))
    while bytes[position] == UInt8(ascii: "\\") {
      try decodeEscape(bytes, into: &decoded)
      let plain = position
      if try !skipPlainBytes(bytes) { isASCII = false }
      decoded.append(contentsOf: bytes.extracting(plain..<position))
    }
    position += 1
    // A decoded escape is always valid, so only the plain bytes need a check.
    return try text(of: decoded.span, isASCII: isASCII, at: quote)
  }

  /// Moves to the next quote or backslash; `false` if a byte on the way was not ASCII.
  private mutating func skipPlainBytes(_ bytes: Span<UInt8>) throws(JSONError) -> Bool {
    var seen: UInt8 = 0
    var next = position
    while next < bytes.count {
      let byte = bytes[next]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        position = next
        return seen < 0x80
      }
      guard byte >= 0x20 else { throw .controlCharacter(at: next) }
      seen |= byte
      next += 1
    }
    throw .unexpectedEnd
  }

  private func text(of bytes: Span<UInt8>, isASCII: Bool, at quote: Int) throws(JSONError) -> String {
    // ASCII and decoded escapes are always valid, so this uses the faster initializer, which repairs instead of
    // checking.
    let text: String? = bytes.withUnsafeBufferPointer { bytes in
      isASCII ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
    }
    guard let text else { throw .invalidUTF8(at: quote) }
    return text
  }

  private mutating func decodeEscape(_ bytes: Span<UInt8>, into decoded: inout [UInt8]) throws(JSONError) {
    let start = position
    position += 1
    let letter = try peek(bytes)
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(letter)
    case UInt8(ascii: "b"): decoded.append(0x08)
    case UInt8(ascii: "f"): decoded.append(0x0C)
    case UInt8(ascii: "n"): decoded.append(0x0A)
    case UInt8(ascii: "r"): decoded.append(0x0D)
    case UInt8(ascii: "t"): decoded.append(0x09)
    case UInt8(ascii: "u"): decoded.append(contentsOf: try parseUnicodeEscape(bytes, from: start))
    default: throw .invalidEscape(at: start)
    }
  }

  private mutating func parseUnicodeEscape(_ bytes: Span<UInt8>, from start: Int) throws(JSONError)
    -> Unicode.UTF8.EncodedScalar
  {
    var value = try parseHexDigits(bytes, from: start)
    if value >> 10 == 0xD800 >> 10 {
      for expected in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
        guard try peek(bytes) == expected else { throw .loneSurrogate(at: start) }
        position += 1
      }
      let low = try parseHexDigits(bytes, from: start)
      guard low >> 10 == 0xDC00 >> 10 else { throw .loneSurrogate(at: start) }
      value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
    }
    guard let scalar = Unicode.Scalar(value), let encoded = UTF8.encode(scalar) else { throw .loneSurrogate(at: start) }
    return encoded
  }

  private mutating func parseHexDigits(_ bytes: Span<UInt8>, from start: Int) throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      let byte = try peek(bytes)
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

extension [UInt8] {
  fileprivate mutating func append(contentsOf bytes: Span<UInt8>) {
    bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
  }
}
