/// Writes `Encodable` values into a document, as few operations as it takes.
///
/// What a value does not mention goes from the containers it covers: keys that are no longer encoded are deleted and
/// arrays shrink. What is unchanged is not written, so that it does not stand in the way of what others write. Elements of
/// an array are told apart by what they hold: inserting one in the middle is one insertion, not a rewrite of the rest.
///
/// A single value that stands in a conflict is settled by being encoded: what it won against goes, as it does when the value is
/// put. Objects in a conflict stay, since they may hold words that a person typed.
///
/// The value is compared with the document before anything is written: when `encode` throws because the two do not fit,
/// the document is as it was.
public struct AutomergeEncoder {
  /// What the values' own `encode(to:)` finds in its encoder.
  public var userInfo: [CodingUserInfoKey: Any] = [:]
  /// The document that is written.
  public let doc: Document
  /// What to do where the document has other containers than the value.
  public let schemaStrategy: SchemaStrategy
  /// Whether a value of one type may not take the place of a value of another.
  public let cautiousWrite: Bool
  /// As it was given. Nothing is logged.
  public let logLevel: LogVerbosity

  /// - Parameters:
  ///   - strategy: What to do where the document has other containers than the value.
  ///   - cautiousWrite: Refuse to put a value of one type in the place of a value of another.
  ///   - reportingLoglevel: Taken, but nothing is logged.
  public init(
    doc: Document, strategy: SchemaStrategy = .createWhenNeeded, cautiousWrite: Bool = false,
    reportingLoglevel: LogVerbosity = .errorOnly
  ) {
    (self.doc, schemaStrategy, self.cautiousWrite, logLevel) = (doc, strategy, cautiousWrite, reportingLoglevel)
  }

  /// Writes a value at the root, unless it is nil.
  public func encode<T: Encodable>(_ value: T?) throws {
    if let value { try encode(value) }
  }

  /// Writes a value at the root, where only a map can stand; a lone text or counter is put at the key `value`.
  ///
  /// Throws what the value throws, `CodingKeyLookupError` where the document does not fit, `EncodingError` where a
  /// cautious writer finds another type, `DocError` if the document is full.
  public func encode<T: Encodable>(_ value: T) throws {
    let isBoundType = T.self == AutomergeText.self || T.self == Counter.self
    try encode(value, at: isBoundType ? [AutomergeText.CodingKeys.value] : [])
  }

  /// Writes a value at a place, and makes the containers on the way to it if the strategy allows. An index may be the
  /// length of its list: then the value is appended.
  public func encode<T: Encodable>(_ value: T, at path: [any CodingKey]) throws {
    let node = EncodedNode(for: doc, codingPath: path)
    try node.encode(value, userInfo: userInfo)
    let writer = NodeWriter(document: doc, strategy: schemaStrategy, isCautious: cautiousWrite)
    try writer.write(node, at: path.map { AnyCodingKey($0) })
  }
}
