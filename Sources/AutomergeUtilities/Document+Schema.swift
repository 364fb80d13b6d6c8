import Automerge

extension Document {
  /// How many objects in one another are read: `valueDepthLimit`.
  public static var schemaDepthLimit: Int { valueDepthLimit }

  /// All that the document holds now, as `hydrate` gives it.
  public func schema() throws -> AutomergeValue { try hydrate() }

  /// All that an object of `doc` holds now, as `hydrate` gives it.
  public func parseToSchema(_ doc: Document, from objId: ObjId) throws -> AutomergeValue { try doc.hydrate(obj: objId) }

  /// Whether the document holds nothing: no key at its root.
  /// - Complexity: O(1)
  public func isEmpty() throws -> Bool { length(obj: .ROOT) == 0 }

  /// Whether two documents hold the same values now, however they came to. False if one of them is nested deeper than
  /// `schemaDepthLimit`.
  /// - Complexity: O(n log n) in what they hold.
  public func equivalentContents(_ anotherDoc: Document) -> Bool {
    guard let mine = try? schema(), let other = try? anotherDoc.schema() else { return false }
    return mine == other
  }
}
