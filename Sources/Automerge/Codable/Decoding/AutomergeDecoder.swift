/// Reads `Decodable` values out of a document.
///
/// Texts and counters come as `AutomergeText` and `Counter`, bound to where they stand: what is done to them is done to
/// the document.
public struct AutomergeDecoder {
  /// What the values' own `init(from:)` finds in its decoder.
  public var userInfo: [CodingUserInfoKey: Any] = [:]
  public let doc: Document

  public init(doc: Document) { self.doc = doc }

  /// The value at the root; for a lone text or counter, the one at the key `value`, where the encoder puts it.
  ///
  /// Throws `DecodingError` for what is missing or of another type, `CodingKeyLookupError.MismatchedSchema` where a value
  /// wants another container than stands there.
  public func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let isBoundType = T.self == AutomergeText.self || T.self == Counter.self
    return try decode(type, from: isBoundType ? [AutomergeText.CodingKeys.value] : [])
  }

  /// The value at the root, with texts and counters of their own.
  func decodeUnbound<T: Decodable>(_ type: T.Type) throws -> T { try decode(type, from: [], isBinding: false) }

  /// The value at a place. Nil for an optional type if nothing stands there, but the container has to.
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
