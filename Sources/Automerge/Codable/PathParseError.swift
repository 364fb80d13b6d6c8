import Foundation

/// Why a text is not a path into a document. Each case carries the step that is wrong.
public enum PathParseError: LocalizedError, Hashable, Sendable {
  /// Neither a key that begins with a letter or an underscore nor an index in brackets.
  case InvalidPathElement(String)
  /// Brackets that do not contain a number from 0 to 2^64 - 1.
  case EmptyListIndex(String)

  public var errorDescription: String? {
    switch self {
    case .InvalidPathElement(let step): "“\(step)” is neither a key nor an index in brackets"
    case .EmptyListIndex(let step): "“\(step)” contains no index"
    }
  }
}
