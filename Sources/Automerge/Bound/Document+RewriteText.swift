extension Document {
  /// Makes a text this string by inserting and deleting grapheme clusters, as few as possible. Equal strings make no
  /// operation; strings that differ in their scalars alone, such as é as one and as two, are not equal.
  /// - Complexity: O(n · d), n the clusters of both, d those that differ, at most `ListAlignment.differenceLimit`.
  func rewriteText(_ object: ObjId, to newValue: String) throws {
    let old = try text(obj: object).map(GraphemeCluster.init), new = newValue.map(GraphemeCluster.init)
    var utf8Offset = 0, nextOld = 0, nextNew = 0
    func replace(_ oldEnd: Int, _ newEnd: Int) throws {
      let deleted = old[nextOld..<oldEnd].reduce(0) { $0 + $1.utf8Count }
      let inserted = new[nextNew..<newEnd].flatMap { $0.character.utf8 }
      guard deleted > 0 || !inserted.isEmpty else { return }
      try spliceText(obj: object, utf8Offset: utf8Offset, deleteUTF8: deleted, insert: inserted)
      utf8Offset += inserted.count
    }
    for match in ListAlignment.matches(old, new) {
      try replace(match.old, match.new)
      utf8Offset += old[match.old].utf8Count
      (nextOld, nextNew) = (match.old + 1, match.new + 1)
    }
    try replace(old.count, new.count)
  }
}

/// A grapheme cluster, equal to another if their UTF-8 is.
private struct GraphemeCluster: Equatable {
  let character: Character
  var utf8Count: Int { character.utf8.count }

  static func == (left: GraphemeCluster, right: GraphemeCluster) -> Bool {
    left.character.utf8.elementsEqual(right.character.utf8)
  }
}
