extension Document {
  /// The object at a path such as `.list.[2].notes`; nil if the place is empty or holds a single value.
  ///
  /// Throws `PathParseError` if `path` is no path, and `CodingKeyLookupError` if a container on the way is missing or
  /// an index is past the end. For an index into the root, which is a map, this is `AutomergeDocError` with
  /// `DocError.wrongType`.
  public func lookupPath(path: String) throws -> ObjId? {
    let steps = try AnyCodingKey.parsePath(path)
    guard let first = steps.first, let last = steps.last else { return .ROOT }
    guard first.index == nil else { throw CodingKeyLookupError.AutomergeDocError(DocError.wrongType(.ROOT, .Map)) }
    let container = try retrieveObjectId(path: steps, containerType: .Value, strategy: .readonly).get()
    if let index = last.index, index > length(obj: container) {
      throw CodingKeyLookupError.pastTheEnd(index, of: steps.stringPath(), length(obj: container))
    }
    guard case .Object(let object, _)? = try value(in: container, at: last) else { return nil }
    return object
  }
}
