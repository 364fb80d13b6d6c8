import Foundation

/// Why an object could not be read or written as one value.
public enum AutomergeValueError: LocalizedError, Hashable, Sendable {
  /// An object is nested deeper than `Document.valueDepthLimit`.
  case nestedTooDeep(ObjId)
  /// The value is not of the object's type: for example a list for a map, or a single value.
  case otherType(ObjId, ObjType)

  public var errorDescription: String? {
    switch self {
    case .nestedTooDeep(let object): "object \(object) is nested too deep to be one value"
    case .otherType(let object, let type): "object \(object) is a \(type), and the value is not"
    }
  }
}
