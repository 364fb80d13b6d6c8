extension Document {
  /// Makes a text read `value`, inserting and deleting as few grapheme clusters as it takes, so that what others write
  /// at the same time stays. Prefer `spliceText` where the edit itself is known.
  /// - Complexity: O(n) in both texts, plus O(n d) in the part that differs, where d is how much is inserted and deleted.
  public func updateText(obj: ObjId, value: String) throws {
    try withCore { core in
      let (id, tree) = try core.text(obj)
      let new = Array(value.utf8)
      var shift = 0
      for edit in TextDifference(from: core.string(of: tree), to: value).edits {
        try core.splice(
          tree, id, utf8Offset: edit.old.lowerBound + shift, deleting: edit.old.count, inserting: Array(new[edit.new]),
          asClusters: textEncoding == .graphemeCluster)
        shift += edit.new.count - edit.old.count
      }
    }
  }
}
