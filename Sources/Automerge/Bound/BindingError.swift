import Foundation

/// Why a text or counter could not be bound to a place of a document, or written there.
public enum BindingError: LocalizedError, Hashable, Sendable {
  /// No text or counter can stand at this path.
  case InvalidPath(String)
  /// Something else than a text stands there.
  case NotText
  /// No counter stands there.
  case NotCounter
  /// It is not bound to a document yet.
  case Unbound

  public var errorDescription: String? {
    switch self {
    case .InvalidPath(let path): "nothing can be bound to the path “\(path)”"
    case .NotText: "what stands there is not a text"
    case .NotCounter: "what stands there is not a counter"
    case .Unbound: "it is not bound to a document"
    }
  }
}
