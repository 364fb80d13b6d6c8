struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: CodableDecoder
  let object: ObjId

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { decoder.document.keys(obj: object).compactMap { Key(stringValue: $0) } }

  private func value(_ key: some CodingKey) throws -> Value? {
    try decoder.document.get(obj: object, key: key.stringValue)
  }

  private func child(_ key: some CodingKey) throws -> CodableDecoder {
    guard let value = try value(key) else {
      throw DecodingError.keyNotFound(key, decoder.context("the map has no key “\(key.stringValue)”"))
    }
    return try decoder.child(key, in: object, at: AnyCodingKey(key.stringValue), value: value)
  }

  /// Cannot fail: the map exists, so it can be asked for any key.
  func contains(_ key: Key) -> Bool {
    do { return try value(key) != nil } catch { return false }
  }

  func decodeNil(forKey key: Key) throws -> Bool { try child(key).isNull }

  func decode<Result: Decodable>(_ type: Result.Type, forKey key: Key) throws -> Result {
    try child(key).decode(type)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try child(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try child(key).unkeyedContainer()
  }

  /// The superclass's keys are in the same map as the subclass's.
  func superDecoder() -> any Decoder { decoder }

  /// The map at the key. If there is none, the same map, as automerge-swift writes it.
  func superDecoder(forKey key: Key) throws -> any Decoder { contains(key) ? try child(key) : decoder }
}

struct UnkeyedDecoding: UnkeyedDecodingContainer {
  let decoder: CodableDecoder
  let object: ObjId
  /// The list as it was when the container was requested.
  let values: [Value]
  private(set) var currentIndex = 0

  init(decoder: CodableDecoder, object: ObjId, values: [Value]) {
    (self.decoder, self.object, self.values) = (decoder, object, values)
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { values.count }
  var isAtEnd: Bool { currentIndex >= values.count }

  private func current(_ type: Any.Type) throws -> CodableDecoder {
    let key = AnyCodingKey(UInt64(currentIndex))
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: codingPath + [key], debugDescription: "the list ends after \(values.count) elements"))
    }
    return try decoder.child(key, in: object, at: key, value: values[currentIndex])
  }

  mutating func decodeNil() throws -> Bool {
    let isNull = try current(Any?.self).isNull
    if isNull { currentIndex += 1 }
    return isNull
  }

  mutating func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
    let result = try current(type).decode(type)
    currentIndex += 1
    return result
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let container = try current(type).container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try current([Value].self).unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let element = try current(Value.self)
    currentIndex += 1
    return element
  }
}

struct SingleValueDecoding: SingleValueDecodingContainer {
  let decoder: CodableDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.isNull }

  func decode<Result: Decodable>(_ type: Result.Type) throws -> Result { try decoder.decode(type) }
}
