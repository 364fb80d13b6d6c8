/// What an element holds, so that elements of the document and of an encoded list can be told to be the same.
///
/// Scalars compare as they are stored: byte for byte, dates to the millisecond.
indirect enum ContentSignature: Hashable {
  case scalar(RawValue)
  case text(RawValue)
  case map([MapKey: ContentSignature])
  case list([ContentSignature])
  /// An element that has this text object, whatever else it holds: the two sides name the same thing.
  case holder(of: ObjId)
  /// Nested too deep to compare; equal to nothing else.
  case unknown(Int)

  /// How deep elements are compared. Deeper ones count as changed and are compared container by container.
  static let depthLimit = 64
}

extension ContentSignature {
  /// Of an encoded element. `anchors` collects the text objects by which elements name themselves.
  init(_ node: EncodedNode, in document: Document, anchors: inout Set<ObjId>) {
    if let anchor = Self.anchor(of: node, in: document) {
      anchors.insert(anchor)
      self = .holder(of: anchor)
    } else {
      self.init(plain: node, depth: 0)
    }
  }

  private static func anchor(of node: EncodedNode, in document: Document) -> ObjId? {
    switch node.content {
    case .text(let text): text.object(in: document)
    case .map(let children):
      children.keys.sorted().lazy.compactMap { key -> ObjId? in
        guard case .text(let text)? = children[key]?.content else { return nil }
        return text.object(in: document)
      }.first
    default: nil
    }
  }

  private init(plain node: EncodedNode, depth: Int) {
    guard depth < Self.depthLimit else {
      self = .unknown(ObjectIdentifier(node).hashValue)
      return
    }
    switch node.content {
    case .nothing: self = .map([:])
    case .scalar(let value): self = .scalar(RawValue(value))
    case .text(let text): self = .text(RawValue(.String(text.value)))
    case .counter(let counter): self = .scalar(RawValue(.Counter(Int64(counter.value))))
    case .map(let children): self = .map(children.mapValues { ContentSignature(plain: $0, depth: depth + 1) })
    case .list(let children): self = .list(children.map { ContentSignature(plain: $0, depth: depth + 1) })
    }
  }

  /// Of an element of a document. If it is or directly has one of the `anchors`, that is its signature.
  init(_ value: Value, in document: Document, anchors: Set<ObjId>) throws {
    if !anchors.isEmpty, let anchor = try Self.anchor(of: value, in: document, among: anchors) {
      self = .holder(of: anchor)
    } else {
      try self.init(plain: value, in: document, depth: 0)
    }
  }

  private static func anchor(of value: Value, in document: Document, among anchors: Set<ObjId>) throws -> ObjId? {
    guard case .Object(let object, let type) = value else { return nil }
    if type == .Text { return anchors.contains(object) ? object : nil }
    guard type == .Map else { return nil }
    for (_, child) in try document.mapEntries(obj: object) {
      if case .Object(let text, .Text) = child, anchors.contains(text) { return text }
    }
    return nil
  }

  private init(plain value: Value, in document: Document, depth: Int) throws {
    switch value {
    case .Scalar(let scalar): self = .scalar(RawValue(scalar))
    case .Object(let object, _) where depth >= Self.depthLimit: self = .unknown(object.hashValue)
    case .Object(let object, .Text): self = .text(RawValue(.String(try document.text(obj: object))))
    case .Object(let object, .List):
      self = .list(
        try document.values(obj: object).map { try ContentSignature(plain: $0, in: document, depth: depth + 1) })
    case .Object(let object, .Map):
      var children: [MapKey: ContentSignature] = [:]
      for (key, child) in try document.mapEntries(obj: object) {
        children[MapKey(key)] = try ContentSignature(plain: child, in: document, depth: depth + 1)
      }
      self = .map(children)
    }
  }
}
