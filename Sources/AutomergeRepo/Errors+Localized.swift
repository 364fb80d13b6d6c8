import Foundation

extension StorageError: LocalizedError {
  public var errorDescription: String? { "The store: \(description)." }
}

extension CBORError: LocalizedError, CustomStringConvertible {
  /// Part of a sentence, with the position.
  public var description: String {
    switch self {
    case .truncated(let at): "the CBOR value ends too early, at byte \(at)"
    case .trailingBytes(let at): "there is more data after the CBOR value, at byte \(at)"
    case .malformed(let at): "no CBOR value begins at byte \(at)"
    case .invalidUTF8(let at): "the text at byte \(at) is not UTF-8"
    case .tooDeep(let at): "the CBOR value is nested too deeply at byte \(at)"
    case .tooLarge(let at): "a text, array or map is too long at byte \(at)"
    case .tooMany(let at): "the CBOR value has too many parts, at byte \(at)"
    }
  }

  public var errorDescription: String? { "The bytes cannot be read: \(description)." }
}

extension RepoMessageError: LocalizedError, CustomStringConvertible {
  /// Part of a sentence.
  public var description: String {
    switch self {
    case .notCBOR(let error): "\(error)"
    case .notAMessage: "it has no type"
    case .badField(let type, let field): "the field \(field) of a message of type \(type) is missing or wrong"
    case .tooLong(let type, let byteCount): "a message of type \(type) has \(byteCount) bytes, which is too many"
    }
  }

  public var errorDescription: String? { "The message cannot be read: \(description)." }
}
