/// The `Encoder` that a value receives: writes into a node.
struct CodableEncoder: Encoder {
  let node: EncodedNode
  let userInfo: [CodingUserInfoKey: Any]

  var codingPath: [any CodingKey] { node.codingPath }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.becomeMap()
    return KeyedEncodingContainer(KeyedEncoding(node: node, userInfo: userInfo))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.becomeList()
    return UnkeyedEncoding(node: node, userInfo: userInfo)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleValueEncoding(node: node, userInfo: userInfo)
  }
}

struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodedNode
  let userInfo: [CodingUserInfoKey: Any]

  var codingPath: [any CodingKey] { node.codingPath }

  func encodeNil(forKey key: Key) { node.child(key).encodeNil() }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try node.child(key).encode(value, userInfo: userInfo)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    CodableEncoder(node: node.child(key), userInfo: userInfo).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    CodableEncoder(node: node.child(key), userInfo: userInfo).unkeyedContainer()
  }

  /// The superclass's keys are in the same map as the subclass's, as automerge-swift writes and reads them.
  func superEncoder() -> any Encoder { CodableEncoder(node: node, userInfo: userInfo) }

  func superEncoder(forKey key: Key) -> any Encoder { CodableEncoder(node: node.child(key), userInfo: userInfo) }
}

struct UnkeyedEncoding: UnkeyedEncodingContainer {
  let node: EncodedNode
  let userInfo: [CodingUserInfoKey: Any]

  var codingPath: [any CodingKey] { node.codingPath }
  var count: Int { node.elementCount }

  func encodeNil() { node.append().encodeNil() }

  func encode<Value: Encodable>(_ value: Value) throws { try node.append().encode(value, userInfo: userInfo) }

  func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
    CodableEncoder(node: node.append(), userInfo: userInfo).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    CodableEncoder(node: node.append(), userInfo: userInfo).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { CodableEncoder(node: node.append(), userInfo: userInfo) }
}

struct SingleValueEncoding: SingleValueEncodingContainer {
  let node: EncodedNode
  let userInfo: [CodingUserInfoKey: Any]

  var codingPath: [any CodingKey] { node.codingPath }

  func encodeNil() { node.encodeNil() }

  func encode<Value: Encodable>(_ value: Value) throws { try node.encode(value, userInfo: userInfo) }
}
