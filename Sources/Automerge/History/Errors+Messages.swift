import Foundation

// One line for people about each error. What and where is in the cases; this is for logs and alerts.

extension DocError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .unknownObject(let object): "the document has no object \(object)"
    case .wrongType(let object, let type): "object \(object) is not fit for this, it is of type \(type)"
    case .outOfBounds(let index): "index \(index) is out of bounds"
    case .invalidCursor: "the cursor's bytes are malformed"
    case .unknownCursor: "the cursor does not stand in this object"
    case .notACounter: "what stands there is not a counter"
    case .invalidValue: "the value cannot be stored"
    case .invalidUTF8: "the text is not valid UTF-8"
    case .tooLarge: "the document is at its limit of text or operations"
    }
  }
}

extension LoadError: LocalizedError {
  public var errorDescription: String? {
    switch self {
    case .format(let error): "the bytes are not in Automerge's format: \(error)"
    case .notReproducible(let hash): "change \(hash) is not encoded canonically"
    case .inconsistent(let hash, let what): "change \(hash) does not fit the document: \(what)"
    case .inconsistentDocument(let what): "the document contradicts itself: \(what)"
    case .unsupportedChunk: "chunks of this type are not read"
    }
  }
}

/// Why bytes are no persisted sync state.
public enum DecodeSyncStateError: LocalizedError, Hashable, Sendable {
  case format(FormatError)

  public var errorDescription: String? {
    switch self {
    case .format(let error): "the bytes are not a sync state: \(error)"
    }
  }
}

/// Why a sync message was not taken in.
public enum ReceiveSyncError: LocalizedError, Hashable, Sendable {
  /// The message itself is malformed.
  case format(FormatError)
  /// Its changes cannot be taken in.
  case load(LoadError)

  public var errorDescription: String? {
    switch self {
    case .format(let error): "the bytes are not a sync message: \(error)"
    case .load(let error): "the changes of the sync message were refused: \(error.localizedDescription)"
    }
  }
}
