import Foundation

/// The `Decoder` that a type receives: one place of a document and its value.
struct CodableDecoder: Decoder {
  let document: Document
  let userInfo: [CodingUserInfoKey: Any]
  let codingPath: [any CodingKey]
  /// Whether texts and counters are bound to the document.
  let isBinding: Bool
  /// Nil if the place is empty.
  var value: Value?
  /// The place; nil for the root.
  var place: (object: ObjId, key: AnyCodingKey)?

  /// How deep a document is read. No honest model nests deeper, and reading it would exhaust the stack.
  static let depthLimit = 512

  func child(_ key: some CodingKey, in object: ObjId, at step: AnyCodingKey, value: Value?) throws -> CodableDecoder {
    guard codingPath.count < Self.depthLimit else {
      throw DecodingError.dataCorrupted(context("nested deeper than \(Self.depthLimit) containers"))
    }
    return CodableDecoder(
      document: document, userInfo: userInfo, codingPath: codingPath + [key], isBinding: isBinding, value: value,
      place: (object, step))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(KeyedDecoding(decoder: self, object: try object(.Map)))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let object = try object(.List)
    return UnkeyedDecoding(decoder: self, object: object, values: try document.values(obj: object))
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { SingleValueDecoding(decoder: self) }

  private func object(_ type: ObjType) throws -> ObjId {
    switch value {
    case .Object(let object, type): return object
    case nil, .Scalar(.Null): throw missing(Value.self)
    case .some(let other):
      throw CodingKeyLookupError.MismatchedSchema("at \(codingPath.stringPath()) there is \(other), not a \(type)")
    }
  }

  private func missing(_ type: Any.Type) -> DecodingError {
    .valueNotFound(type, context("there is nothing at \(codingPath.stringPath())"))
  }

  func context(_ description: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: codingPath, debugDescription: description)
  }

  var isNull: Bool { value == nil || value == .Scalar(.Null) }

  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    if let bound = try bound(type) { return bound }
    guard let scalarType = type as? any SingleScalar.Type else { return try Result(from: self) }
    switch value {
    case nil, .Scalar(.Null): throw missing(type)
    case .Scalar(let scalar):
      if let result = try (number(type, scalar) ?? converted(scalarType, scalar)) as? Result { return result }
      throw DecodingError.typeMismatch(type, context("there is \(scalar)"))
    case .Object(_, let other): throw DecodingError.typeMismatch(type, context("there is a \(other)"))
    }
  }

  private func converted<Result: SingleScalar>(_ type: Result.Type, _ scalar: ScalarValue) -> Any? {
    try? Result.fromScalarValue(scalar).get()
  }

  /// Numbers are converted by value: an integer of either signedness becomes any integer or floating-point type that
  /// can hold it. Other implementations do not distinguish signed and unsigned.
  private func number(_ type: any Decodable.Type, _ scalar: ScalarValue) throws -> Any? {
    if let type = type as? any FixedWidthInteger.Type {
      switch scalar {
      case .Int(let number): return try integer(type, number)
      case .Uint(let number): return try integer(type, number)
      default: return nil
      }
    }
    switch (scalar, type) {
    case (.Int(let number), is Double.Type): return Double(number)
    case (.Uint(let number), is Double.Type): return Double(number)
    case (.Int(let number), is Float.Type): return Float(number)
    case (.Uint(let number), is Float.Type): return Float(number)
    default: return nil
    }
  }

  private func integer<Result: FixedWidthInteger>(_ type: Result.Type, _ number: some BinaryInteger) throws -> Any {
    guard let result = Result(exactly: number) else {
      throw DecodingError.dataCorrupted(context("\(number) does not fit \(type)"))
    }
    return result
  }

  /// A text or counter bound to this place; nil if another type is requested.
  private func bound<Result: Decodable>(_ type: Result.Type) throws -> Result? {
    if type == AutomergeText.self {
      guard case .Object(let object, .Text)? = value else { throw boundMismatch(type) }
      let text =
        isBinding ? try AutomergeText(doc: document, objId: object) : AutomergeText(try document.text(obj: object))
      return text as? Result
    }
    if type == Counter.self {
      guard case .Scalar(.Counter(let number))? = value, let place else { throw boundMismatch(type) }
      let counter =
        isBinding ? try Counter(doc: document, objId: place.object, key: place.key) : Counter(Int(clamping: number))
      return counter as? Result
    }
    return nil
  }

  private func boundMismatch(_ type: any Decodable.Type) -> DecodingError {
    guard let value, value != .Scalar(.Null) else { return missing(type) }
    return .typeMismatch(type, context("there is \(value)"))
  }
}
