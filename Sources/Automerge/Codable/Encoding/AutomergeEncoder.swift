/// Writes `Encodable` values into a document with as few operations as possible.
///
/// Whatever the value does not mention is deleted from the containers it covers: keys that are no longer encoded are
/// deleted, and arrays shrink. What is unchanged is not written, so that it does not override what others write.
/// Elements of an array are recognised by their content: inserting one in the middle is one insertion, not a rewrite of
/// the rest.
///
/// Encoding a single value that is in a conflict resolves the conflict, as putting the value does. Objects in a
/// conflict stay, since they may hold words that a person typed.
///
/// The value is compared with the document before anything is written: when `encode` throws because the two do not fit,
/// the document is as it was.
public struct AutomergeEncoder {
  /// The `userInfo` of the encoder that the values' own `encode(to:)` receives.
  public var userInfo: [CodingUserInfoKey: Any] = [:]
  /// The document that is written.
  public let doc: Document
  /// What to do if the document has other containers than the value.
  public let schemaStrategy: SchemaStrategy
  /// Whether a value may not replace one of another type.
  public let cautiousWrite: Bool
  /// The level that was passed in. Nothing is logged.
  public let logLevel: LogVerbosity

  /// - Parameters:
  ///   - strategy: What to do if the document has other containers than the value.
  ///   - cautiousWrite: Refuse to replace a value by one of another type.
  ///   - reportingLoglevel: Accepted, but nothing is logged.
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

  /// Writes a value at the root, which can only be a map; a lone text or counter is put at the key `value`.
  ///
  /// Throws what the value throws, `CodingKeyLookupError` if the document does not fit, `EncodingError` if
  /// `cautiousWrite` finds another type, and `DocError` if the document is full.
  public func encode<T: Encodable>(_ value: T) throws {
    let isBoundType = T.self == AutomergeText.self || T.self == Counter.self
    try encode(value, at: isBoundType ? [AutomergeText.CodingKeys.value] : [])
  }

  /// Writes a value at a place, and makes the containers on the way if the strategy allows. If the last step is the
  /// length of a list, appends the value.
  public func encode<T: Encodable>(_ value: T, at path: [any CodingKey]) throws {
    let node = EncodedNode(for: doc, codingPath: path)
    try node.encode(value, userInfo: userInfo)
    let writer = NodeWriter(document: doc, strategy: schemaStrategy, isCautious: cautiousWrite)
    try writer.write(node, at: path.map { AnyCodingKey($0) })
  }
}
