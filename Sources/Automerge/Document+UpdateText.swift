extension Document {
  /// Changes a text to `value`, inserting and deleting as few grapheme clusters as possible, so that what others write
  /// at the same time stays. Prefer `spliceText` if the edit is known.
  /// - Complexity: O(n) in both texts, plus O(n d) in the part that differs, where d is the number of clusters inserted
  ///   and deleted.
  public func updateText(obj: ObjId, value: String) throws {
    try withCore { try $0.updateText(obj, value, asClusters: textEncoding == .graphemeCluster) }
  }
}

extension DocumentCore {
  func updateText(_ object: ObjId, _ value: String, asClusters: Bool) throws(DocError) {
    let (id, tree) = try inView(text(object))
    let new = Array(value.utf8)
    var shift = 0
    for edit in TextDifference(from: string(of: tree), to: value).edits {
      try splice(
        tree, id, utf8Offset: edit.old.lowerBound + shift, deleting: edit.old.count, inserting: Array(new[edit.new]),
        asClusters: asClusters)
      shift += edit.new.count - edit.old.count
    }
  }
}
