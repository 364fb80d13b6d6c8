/// Reads `Decodable` values out of a document.
///
/// Texts and counters come out as `AutomergeText` and `Counter`, bound to their places: changing them changes the
/// document.
public struct AutomergeDecoder {
  /// The `userInfo` of the decoder that the values' own `init(from:)` receives.
  public var userInfo: [CodingUserInfoKey: Any] = [:]
  public let doc: Document

  public init(doc: Document) { self.doc = doc }

  /// The value at the root; for a lone text or counter, the one at the key `value`, where the encoder puts it.
  ///
  /// Throws `DecodingError` for a value that is missing or of another type, and `CodingKeyLookupError.MismatchedSchema`
  /// if a value needs another container than the document has there.
  public func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let isBoundType = T.self == AutomergeText.self || T.self == Counter.self
    return try decode(type, from: isBoundType ? [AutomergeText.CodingKeys.value] : [])
  }

  /// The value at the root, with unbound texts and counters.
  func decodeUnbound<T: Decodable>(_ type: T.Type) throws -> T { try decode(type, from: [], isBinding: false) }

  /// The value at a place. For an optional type, nil if the place is empty; its container must exist.
  public func decode<T: Decodable>(_ type: T.Type, from path: [any CodingKey]) throws -> T {
    try decode(type, from: path, isBinding: true)
  }

  private func decode<T: Decodable>(_ type: T.Type, from path: [any CodingKey], isBinding: Bool) throws -> T {
    let steps = path.map { AnyCodingKey($0) }
    var decoder = CodableDecoder(
      document: doc, userInfo: userInfo, codingPath: path, isBinding: isBinding, value: .Object(.ROOT, .Map))
    if let last = steps.last {
      let container = try doc.retrieveObjectId(path: steps, containerType: .Value, strategy: .readonly).get()
      decoder.value = try doc.value(in: container, at: last)
      decoder.place = (container, last)
    }
    return try decoder.decode(type)
  }
}
