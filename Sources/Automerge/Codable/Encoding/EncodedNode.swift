import Foundation

/// The result of encoding a value, before it is compared with a document. A class, because a value may continue to fill
/// one container while it has others open.
final class EncodedNode {
  enum Content {
    /// Nothing was encoded, which means an empty map, as in other formats.
    case nothing
    case scalar(ScalarValue)
    case map([MapKey: EncodedNode])
    case list([EncodedNode])
    /// With its string, which is read before the document is written, because a text may belong to another document.
    /// The string is nil if the text belongs to this document.
    case text(AutomergeText, String?)
    /// With its number.
    case counter(Counter, Int)
  }

  /// The document that will be written.
  let document: Document

  /// The path from the value that is being encoded.
  let codingPath: [any CodingKey]
  /// How many containers of the value this is in. Deeper than the limit nothing is kept, so that no walk through the
  /// nodes, not even freeing them, exhausts the stack.
  private let depth: Int
  private(set) var content = Content.nothing
  /// The Swift type of a single value, for errors about the value.
  private var scalarType: (any SingleScalar.Type)?
  /// An error in the value that its encoding call could not throw.
  private(set) var fault: (any Error)?

  init(for document: Document, codingPath: [any CodingKey], depth: Int = 0) {
    (self.document, self.codingPath, self.depth) = (document, codingPath, depth)
  }

  /// A value that needs no encoding.
  init(_ value: AutomergeValue, for document: Document, codingPath: [any CodingKey] = []) {
    (self.document, self.codingPath, depth) = (document, codingPath, 0)
    switch value {
    case .scalar(let scalar): content = .scalar(scalar)
    case .text(let string): content = .text(AutomergeText(string), string)
    case .array(let elements):
      content = .list(
        elements.enumerated().map { index, element in
          EncodedNode(element, for: document, codingPath: codingPath + [AnyCodingKey(UInt64(index))])
        })
    case .dict(let entries):
      var children: [MapKey: EncodedNode] = [:]
      for (key, entry) in entries {
        children[MapKey(key)] = EncodedNode(entry, for: document, codingPath: codingPath + [AnyCodingKey(key)])
      }
      content = .map(children)
    }
  }

  /// Encodes a value here. Throws what the value throws, or `EncodingError.invalidValue` for a number or a date that is
  /// not finite, and for what is nested deeper than `Document.valueDepthLimit`.
  func encode<Value: Encodable>(_ value: Value, userInfo: [CodingUserInfoKey: Any]) throws {
    guard depth <= Document.valueDepthLimit else { throw tooDeep(value) }
    switch value {
    case let number as Double:
      try expectFinite(number, value)
      (content, scalarType) = (.scalar(.F64(number)), Double.self)
    case let number as Float:
      try expectFinite(Double(number), value)
      (content, scalarType) = (.scalar(.F64(Double(number))), Float.self)
    case let date as Date where !date.timeIntervalSince1970.isFinite:
      // The error has the number: describing such a date traps.
      try expectFinite(date.timeIntervalSince1970, date.timeIntervalSince1970)
    case let scalar as any SingleScalar: (content, scalarType) = (.scalar(scalar.toScalarValue()), type(of: scalar))
    case let text as AutomergeText: content = .text(text, text.object(in: document) == nil ? text.value : nil)
    case let counter as Counter: content = .counter(counter, counter.value)
    case let dictionary as any NumberKeyed where !dictionary.isEmpty:
      throw DocError.numbersAsKeys(codingPath.stringPath())
    default:
      try value.encode(to: CodableEncoder(node: self, userInfo: userInfo))
    }
  }

  func encodeNil() { content = .scalar(.Null) }

  /// What was encoded here, if it is one value, in its original type, since errors carry it. Nil means the scalar value
  /// null.
  var singleValue: Any? {
    switch content {
    case .scalar(let scalar): scalarType.flatMap { Self.value(of: scalar, as: $0) } ?? scalar
    case .counter(let counter, _): counter
    case .nothing, .map, .list, .text: nil
    }
  }

  private static func value<Value: SingleScalar>(of scalar: ScalarValue, as type: Value.Type) -> Any? {
    try? type.fromScalarValue(scalar).get()
  }

  private func expectFinite(_ number: Double, _ value: Any) throws {
    guard number.isFinite else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: codingPath, debugDescription: "an Automerge document holds only finite numbers"))
    }
  }

  private func tooDeep(_ value: Any) -> EncodingError {
    .invalidValue(
      value,
      .init(codingPath: codingPath, debugDescription: "nested deeper than \(Document.valueDepthLimit) containers"))
  }

  /// A node for what a container of this one holds. One that would be too deep belongs to no other node, and the fault
  /// stays here.
  private func inner(_ key: (any CodingKey)?) -> (node: EncodedNode, isKept: Bool) {
    let isKept = depth < Document.valueDepthLimit
    let path = isKept ? codingPath + (key.map { [$0] } ?? []) : codingPath
    return (EncodedNode(for: document, codingPath: path, depth: depth + 1), isKept)
  }

  /// The node of a key. Makes the node and the map if needed.
  func child(_ key: some CodingKey) -> EncodedNode {
    becomeMap()
    guard case .map(var children) = content else { return inner(key).node }
    let name = MapKey(key.stringValue)
    if let child = children[name] { return child }
    let (child, isKept) = inner(key)
    guard isKept else { return child }
    // Removed while they change, so that adding a child does not copy all of them.
    content = .nothing
    children[name] = child
    content = .map(children)
    return child
  }

  /// The node of a new last element. Makes the list if needed.
  func append() -> EncodedNode {
    becomeList()
    guard case .list(var children) = content else { return inner(nil).node }
    let (child, isKept) = inner(AnyCodingKey(UInt64(children.count)))
    guard isKept else { return child }
    content = .nothing
    children.append(child)
    content = .list(children)
    return child
  }

  var elementCount: Int {
    guard case .list(let children) = content else { return 0 }
    return children.count
  }

  func becomeMap() {
    noteDepth()
    switch content {
    case .map: break
    case .nothing: content = .map([:])
    default: noteTwoKinds()
    }
  }

  func becomeList() {
    noteDepth()
    switch content {
    case .list: break
    case .nothing: content = .list([])
    default: noteTwoKinds()
    }
  }

  /// A container is counted as one level more than a single value there would be.
  private func noteDepth() {
    if depth >= Document.valueDepthLimit, fault == nil { fault = tooDeep(content) }
  }

  private func noteTwoKinds() {
    fault = EncodingError.invalidValue(
      self, .init(codingPath: codingPath, debugDescription: "one value opened containers of two kinds"))
  }
}

/// Dictionaries that automerge-swift refuses. Recognised by type, because the coding keys of a dictionary with string
/// keys look the same if the strings are digits.
private protocol NumberKeyed {
  var isEmpty: Bool { get }
}

extension Dictionary: NumberKeyed where Key == Int {}

/// The types that are one scalar value, whatever their own `Codable` conformance does.
protocol SingleScalar: ScalarValueRepresentable {}

extension Bool: SingleScalar {}
extension String: SingleScalar {}
extension Int: SingleScalar {}
extension Int8: SingleScalar {}
extension Int16: SingleScalar {}
extension Int32: SingleScalar {}
extension Int64: SingleScalar {}
extension UInt: SingleScalar {}
extension UInt8: SingleScalar {}
extension UInt16: SingleScalar {}
extension UInt32: SingleScalar {}
extension UInt64: SingleScalar {}
extension Double: SingleScalar {}
extension Float: SingleScalar {}
extension Data: SingleScalar {}
extension Date: SingleScalar {}
extension URL: SingleScalar {}
