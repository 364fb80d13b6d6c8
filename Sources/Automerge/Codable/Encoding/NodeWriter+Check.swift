/// Checks whether a document fits what was encoded, without writing anything.
extension NodeWriter {
  /// Throws if `node` may not be written over `existing`.
  func check(_ node: EncodedNode, against existing: PresentValue?) throws {
    if let fault = node.fault { throw fault }
    if isCautious, let existing { try expectSameType(node, existing.value) }
    switch node.content {
    case .scalar, .counter:
      guard existing != nil || strategy != .readonly else { throw missing(node) }
    case .text: _ = try container(.Text, node, existing?.value)
    case .nothing: _ = try container(.Map, node, existing?.value)
    case .map(let children):
      let object = try container(.Map, node, existing?.value)
      for (key, child) in children.sorted(by: { $0.key < $1.key }) {
        try check(child, against: object.flatMap { try document.present(in: $0, at: AnyCodingKey(key.string)) })
      }
    case .list(let children):
      let object = try container(.List, node, existing?.value)
      let present = try object.map { try document.presentElements(obj: $0) } ?? []
      for step in try steps(from: present, to: children, of: object) {
        switch step {
        case .keep(let old, let new): try check(children[new], against: present[old])
        case .insert(let new): try check(children[new], against: nil)
        case .delete: break
        }
      }
    }
  }

  /// The container that exists there; nil if a new one may be made.
  private func container(_ type: ObjType, _ node: EncodedNode, _ existing: Value?) throws -> ObjId? {
    switch existing {
    case .Object(let object, type): return object
    case nil, .Scalar(.Null):
      guard strategy != .readonly else { throw missing(node) }
      return nil
    case .some(let other):
      guard strategy == .override else {
        throw CodingKeyLookupError.MismatchedSchema(
          "at \(node.codingPath.stringPath()) there is \(other), where a \(type) must be")
      }
      return nil
    }
  }

  private func missing(_ node: EncodedNode) -> CodingKeyLookupError {
    .SchemaMissing("there is nothing at \(node.codingPath.stringPath()), and nothing may be added")
  }

  private func expectSameType(_ node: EncodedNode, _ existing: Value) throws {
    let present = TypeOfValue(existing)
    guard let wanted = TypeOfValue(node), wanted != present, let value = node.singleValue else { return }
    throw EncodingError.invalidValue(
      value,
      .init(codingPath: node.codingPath, debugDescription: "the document has \(present) there, not \(wanted)"))
  }
}

/// The kinds of values that a cautious writer does not replace by one another.
private enum TypeOfValue: Hashable {
  case null, bool, int, uint, double, string, bytes, counter, timestamp, map, list, text
  case unknown(UInt8)

  init(_ scalar: ScalarValue) {
    switch scalar {
    case .Null: self = .null
    case .Boolean: self = .bool
    case .Int: self = .int
    case .Uint: self = .uint
    case .F64: self = .double
    case .String: self = .string
    case .Bytes: self = .bytes
    case .Counter: self = .counter
    case .Timestamp: self = .timestamp
    case .Unknown(let code, _): self = .unknown(code)
    }
  }

  init(_ value: Value) {
    switch value {
    case .Scalar(let scalar): self.init(scalar)
    case .Object(_, .Map): self = .map
    case .Object(_, .List): self = .list
    case .Object(_, .Text): self = .text
    }
  }

  /// The kind of a single value. Containers have checks of their own.
  init?(_ node: EncodedNode) {
    switch node.content {
    case .scalar(let scalar): self.init(scalar)
    case .counter: self = .counter
    case .nothing, .map, .list, .text: return nil
    }
  }
}
