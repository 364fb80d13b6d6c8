import Automerge

extension Document {
  /// How many levels of nested objects are read: `valueDepthLimit`.
  public static var schemaDepthLimit: Int { valueDepthLimit }

  /// The document's whole content, as `hydrate` returns it.
  public func schema() throws -> AutomergeValue { try hydrate() }

  /// The whole content of an object of `doc`, as `hydrate` returns it.
  public func parseToSchema(_ doc: Document, from objId: ObjId) throws -> AutomergeValue { try doc.hydrate(obj: objId) }

  /// Whether the document is empty: its root has no key.
  /// - Complexity: O(1)
  public func isEmpty() throws -> Bool { length(obj: .ROOT) == 0 }

  /// Whether two documents have the same content now, whatever their histories. False if one of them is nested deeper
  /// than `schemaDepthLimit`.
  /// - Complexity: O(n log n) in the content
  public func equivalentContents(_ anotherDoc: Document) -> Bool {
    guard let mine = try? schema(), let other = try? anotherDoc.schema() else { return false }
    return mine == other
  }
}
