/// What an element holds, for recognising elements of the document in an encoded list.
///
/// Scalars compare as they are stored: byte for byte, dates to the millisecond.
indirect enum ContentSignature: Hashable {
  case scalar(RawValue)
  case text(RawValue)
  case map([MapKey: ContentSignature])
  case list([ContentSignature])
  /// An element that an encoded one refers to, whatever else it holds.
  case named(Anchor)
  /// An element that is nested too deep to compare; equal to no other.
  case unknown(Int)

  /// Which element of the document a bound text or counter in an encoded element belongs to.
  enum Anchor: Hashable {
    /// The element is this text, is the map that holds it at a key, or is this map.
    case object(ObjId)
    /// The element is this one.
    case element(ElementId)
  }

  /// How deep elements are compared. Deeper ones count as changed, and their containers are compared one by one.
  static let depthLimit = 64
}

extension ContentSignature {
  /// The signature of an encoded list element. `anchors` collects the anchors that refer to elements.
  init(_ node: EncodedNode, of list: ObjId?, anchors: inout Set<Anchor>) {
    if let anchor = Self.anchor(of: node, in: list) {
      anchors.insert(anchor)
      self = .named(anchor)
    } else {
      self.init(plain: node, depth: 0)
    }
  }

  private static func anchor(of node: EncodedNode, in list: ObjId?) -> Anchor? {
    switch node.content {
    case .text(let text, _): text.object(in: node.document).map(Anchor.object)
    case .counter(let counter, _):
      if let place = counter.place(in: node.document), case .element(let element) = place.step, place.object == list {
        .element(element)
      } else {
        nil
      }
    case .map(let children):
      children.filter { $0.value.isBindable }.keys.sorted().lazy.compactMap { key -> Anchor? in
        switch children[key]?.content {
        case .text(let text, _): text.object(in: node.document).map(Anchor.object)
        case .counter(let counter, _):
          counter.place(in: node.document).flatMap { $0.step == .key(key) ? .object($0.object) : nil }
        default: nil
        }
      }.first
    case .nothing, .scalar, .list: nil
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
    case .text(let text, let string): self = .text(RawValue(.String(string ?? text.value)))
    case .counter(_, let number): self = .scalar(RawValue(.Counter(Int64(number))))
    case .map(let children): self = .map(children.mapValues { ContentSignature(plain: $0, depth: depth + 1) })
    case .list(let children): self = .list(children.map { ContentSignature(plain: $0, depth: depth + 1) })
    }
  }

  /// The signature of a document's element. If one of the `anchors` refers to the element, the anchor is the signature.
  init(_ present: PresentValue, in document: Document, anchors: Set<Anchor>) throws {
    if !anchors.isEmpty, let anchor = try Self.anchor(of: present, in: document, among: anchors) {
      self = .named(anchor)
    } else {
      try self.init(plain: present.value, in: document, depth: 0)
    }
  }

  private static func anchor(
    of present: PresentValue, in document: Document, among anchors: Set<Anchor>
  ) throws -> Anchor? {
    if let element = present.element, anchors.contains(.element(element)) { return .element(element) }
    guard case .Object(let object, let type) = present.value else { return nil }
    if anchors.contains(.object(object)) { return .object(object) }
    guard type == .Map else { return nil }
    for (_, child) in try document.mapEntries(obj: object) {
      if case .Object(let text, .Text) = child, anchors.contains(.object(text)) { return .object(text) }
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

extension EncodedNode {
  /// Whether this is a text or a counter, which may belong to the document.
  fileprivate var isBindable: Bool {
    switch content {
    case .text, .counter: true
    case .nothing, .scalar, .map, .list: false
    }
  }
}
