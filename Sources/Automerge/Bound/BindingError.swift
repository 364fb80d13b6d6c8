import Foundation

/// Why a text or counter could not be bound to a place in a document, or written there.
public enum BindingError: LocalizedError, Hashable, Sendable {
  /// A text or counter cannot be at this path.
  case InvalidPath(String)
  /// The value there is not a text.
  case NotText
  /// There is no counter.
  case NotCounter
  /// The value is not bound to a document yet.
  case Unbound

  public var errorDescription: String? {
    switch self {
    case .InvalidPath(let path): "nothing can be bound to the path “\(path)”"
    case .NotText: "the value there is not a text"
    case .NotCounter: "the value there is not a counter"
    case .Unbound: "it is not bound to a document"
    }
  }
}
