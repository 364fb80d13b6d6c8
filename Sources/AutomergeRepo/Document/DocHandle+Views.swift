import Automerge

/// Other ways to see a document.
extension DocHandle {
  /// The document, by automerge-repo's name for it.
  public nonisolated var doc: Document { document }

  /// The document's URL.
  public nonisolated var url: AutomergeURL { AutomergeURL(id) }

  /// The document as it was at these heads. This is a copy: changes to it do not reach the document.
  ///
  /// - Throws: `DocError.unknownChange` if one of them is not a change of this document
  /// - Complexity: O(n) in the history
  public nonisolated func view(heads: Set<ChangeHash>) throws -> Document { try document.forkAt(heads: heads) }
}
