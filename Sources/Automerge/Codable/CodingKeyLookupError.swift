import Foundation

/// Why a path does not lead to a place in a document where the value can be read or written.
///
/// The texts name the path and what is there. Two errors are equal if their texts are.
public enum CodingKeyLookupError: LocalizedError {
  /// Nothing more precise is known.
  case UnexpectedLookupFailure(String)
  case InvalidPathElement(String)
  case EmptyListIndex(String)
  /// An index past the end of its list.
  case IndexOutOfBounds(String)
  /// A single value at the root, which can only be a map.
  case InvalidValueLookup(String)
  /// A list or an index at the root, which can only be a map.
  case InvalidIndexLookup(String)
  /// The path continues below a text, which contains no further places.
  case PathExtendsThroughText(String)
  /// The path continues below a single value.
  case PathExtendsThroughScalar(String)
  /// The place holds another kind of value than the one to be read or written.
  case MismatchedSchema(String)
  /// The place is empty, and nothing may be made there.
  case SchemaMissing(String)
  /// A single value needs a key or an index as its place.
  case NoPathForSingleValue(String)
  /// The document refused the write.
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
  static func pastTheEnd(_ index: UInt64, of path: String, _ length: UInt64) -> Self {
    .IndexOutOfBounds("index \(index) of \(path) is past the end of a list of \(length)")
  }

  /// None: the description says everything.
  public var failureReason: String? { nil }
}

extension CodingKeyLookupError: Equatable {
  public static func == (left: CodingKeyLookupError, right: CodingKeyLookupError) -> Bool {
    left.errorDescription == right.errorDescription
  }
}
