import Automerge

extension Document {
  /// How many objects in one another are read. Values are built, compared and freed by recursion, so there has to be an
  /// end; honest documents stay far below.
  public static let schemaDepthLimit = 512

  /// All that the document holds now. Throws `AutomergeValueError.nestedTooDeep`.
  /// - Complexity: O(n) in what it holds.
  public func schema() throws -> AutomergeValue { try parseToSchema(self, from: .ROOT) }

  /// All that an object of `doc` holds now. Throws `AutomergeValueError.nestedTooDeep`, or `DocError` if there is no such
  /// object.
  /// - Complexity: O(n) in what it holds.
  public func parseToSchema(_ doc: Document, from objId: ObjId) throws -> AutomergeValue {
    try doc.contents(of: objId, depth: 0)
  }

  /// Whether the document holds nothing: no key at its root.
  public func isEmpty() throws -> Bool { length(obj: .ROOT) == 0 }

  /// Whether two documents hold the same values now, however they came to. Not-a-number is the same as itself. False if
  /// one of them is nested deeper than `schemaDepthLimit`.
  /// - Complexity: O(n) in what they hold.
  public func equivalentContents(_ anotherDoc: Document) -> Bool {
    guard let mine = try? schema(), let other = try? anotherDoc.schema() else { return false }
    return mine.isEquivalent(to: other)
  }

  private func contents(of object: ObjId, depth: Int) throws -> AutomergeValue {
    guard depth < Self.schemaDepthLimit else { throw AutomergeValueError.nestedTooDeep(object) }
    func contents(_ value: Value) throws -> AutomergeValue {
      switch value {
      case .Scalar(let scalar): .scalar(scalar)
      case .Object(let child, _): try self.contents(of: child, depth: depth + 1)
      }
    }
    switch objectType(obj: object) {
    case .Map:
      var entries: [String: AutomergeValue] = [:]
      for (key, value) in try mapEntries(obj: object) { entries[key] = try contents(value) }
      return .dict(entries)
    case .List: return .array(try values(obj: object).map(contents))
    case .Text: return .text(try text(obj: object))
    }
  }
}

extension AutomergeValue {
  fileprivate func isEquivalent(to other: AutomergeValue) -> Bool {
    switch (self, other) {
    case (.scalar(.F64(let mine)), .scalar(.F64(let other))): mine == other || (mine.isNaN && other.isNaN)
    case (.dict(let mine), .dict(let other)):
      mine.count == other.count && mine.allSatisfy { key, value in other[key].map(value.isEquivalent) ?? false }
    case (.array(let mine), .array(let other)):
      mine.count == other.count && zip(mine, other).allSatisfy { $0.isEquivalent(to: $1) }
    default: self == other
    }
  }
}
