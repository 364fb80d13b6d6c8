import Foundation

/// Why a path does not lead to a place in a document where the value can be read or written.
///
/// The texts say which path, and what stands there. Two errors are equal when they say the same.
public enum CodingKeyLookupError: LocalizedError {
  /// Nothing more precise is known.
  case UnexpectedLookupFailure(String)
  case InvalidPathElement(String)
  case EmptyListIndex(String)
  /// An index behind the end of its list.
  case IndexOutOfBounds(String)
  /// A single value where only a map can be: at the root.
  case InvalidValueLookup(String)
  /// A list, or an index, where only a map can be: at the root.
  case InvalidIndexLookup(String)
  /// The path goes on behind a text, which holds nothing more.
  case PathExtendsThroughText(String)
  /// The path goes on behind a single value.
  case PathExtendsThroughScalar(String)
  /// Another kind of thing stands there than the one to be read or written.
  case MismatchedSchema(String)
  /// Nothing stands there, and nothing may be made.
  case SchemaMissing(String)
  /// A single value needs a key or an index to stand at.
  case NoPathForSingleValue(String)
  /// The document refused.
  case AutomergeDocError(any Error)

  public var errorDescription: String? {
    switch self {
    case .UnexpectedLookupFailure(let text), .InvalidPathElement(let text), .EmptyListIndex(let text),
      .IndexOutOfBounds(let text), .InvalidValueLookup(let text), .InvalidIndexLookup(let text),
      .PathExtendsThroughText(let text), .PathExtendsThroughScalar(let text), .MismatchedSchema(let text),
      .SchemaMissing(let text), .NoPathForSingleValue(let text):
      text
    case .AutomergeDocError(let error): "the document refused: \(error.localizedDescription)"
    }
  }
}

extension CodingKeyLookupError {
  /// None: the description says all.
  public var failureReason: String? { nil }
}

extension CodingKeyLookupError: Equatable {
  public static func == (left: CodingKeyLookupError, right: CodingKeyLookupError) -> Bool {
    left.errorDescription == right.errorDescription
  }
}
