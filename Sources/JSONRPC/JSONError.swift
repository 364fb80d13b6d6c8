/// An error in a JSON text, with the byte at which it occurs.
public enum JSONError: Error, Equatable {
  case unexpectedEnd
  case unexpectedByte(UInt8, at: Int)
  case controlCharacter(at: Int)
  case invalidNumber(at: Int)
  /// Larger than a `Double` can hold, or written with more than a thousand digits.
  case numberTooLarge(at: Int)
  case invalidEscape(at: Int)
  /// One half of a surrogate pair without the other, which no Unicode text contains.
  case loneSurrogate(at: Int)
  case invalidUTF8(at: Int)
  case tooDeep(at: Int)
  case tooManyValues(at: Int)
}

extension JSONError {
  /// The position of the wrong byte; nil if the text ends too early.
  public var position: Int? {
    switch self {
    case .unexpectedEnd: nil
    case .unexpectedByte(_, let at), .controlCharacter(let at), .invalidNumber(let at), .numberTooLarge(let at),
      .invalidEscape(let at), .loneSurrogate(let at), .invalidUTF8(let at), .tooDeep(let at), .tooManyValues(let at):
      at
    }
  }
}

extension JSONError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unexpectedEnd: "the JSON text ends too early"
    case .unexpectedByte(let byte, let at): "unexpected byte 0x\(String(byte, radix: 16)) at byte \(at)"
    case .controlCharacter(let at): "control character in a string at byte \(at)"
    case .invalidNumber(let at): "malformed number at byte \(at)"
    case .numberTooLarge(let at): "number too large at byte \(at)"
    case .invalidEscape(let at): "malformed escape at byte \(at)"
    case .loneSurrogate(let at): "half of a surrogate pair at byte \(at)"
    case .invalidUTF8(let at): "invalid UTF-8 in the string at byte \(at)"
    case .tooDeep(let at): "nested too deep at byte \(at)"
    case .tooManyValues(let at): "too many values, at byte \(at)"
    }
  }
}
