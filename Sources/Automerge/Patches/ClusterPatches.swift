/// A text and where its grapheme clusters begin.
struct ClusteredText {
  let utf8: [UInt8]
  /// UTF-8 offsets of all boundaries, both ends included.
  let boundaries: [Int]

  /// - Complexity: O(n) in the text.
  init(_ utf8: [UInt8]) {
    self.utf8 = utf8
    var boundaries = [0], offset = 0
    for character in String(decoding: utf8, as: UTF8.self) {
      offset += character.utf8.count
      boundaries.append(offset)
    }
    self.boundaries = boundaries
  }

  /// The last boundary at or before an offset, by its number: so many clusters begin before it.
  func clusters(before offset: Int) -> Int {
    var low = 0, high = boundaries.count
    while low < high {
      let middle = (low + high) / 2
      if boundaries[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    return max(low - 1, 0)
  }

  func isBoundary(_ offset: Int) -> Bool { boundaries[clusters(before: offset)] == offset }
}

/// Turns patches of a text that count in UTF-8 into such that count in grapheme clusters.
///
/// What is put into a text may join with what stands beside it into one cluster. Then the whole cluster is replaced.
struct ClusterPatches {
  private var text: ClusteredText

  /// Begins with the text as it was before the first patch.
  init(_ utf8: [UInt8]) { text = ClusteredText(utf8) }

  /// - Complexity: O(n) in the text.
  mutating func convert(_ action: PatchAction) -> [PatchAction] {
    switch action {
    case .SpliceText(let object, let index, let value, let marks):
      return replace(object, Int(index), 0, Array(value.utf8), marks, inserting: nil)
    case .Insert(let object, let index, let values):
      let inserted = Array(repeating: RawValue.placeholder, count: values.count).flatMap { $0 }
      return replace(object, Int(index), 0, inserted, [:], inserting: values)
    case .DeleteSeq(let deletion):
      return replace(deletion.obj, Int(deletion.index), Int(deletion.length), [], [:], inserting: nil)
    case .Marks(let object, let marks):
      return [.Marks(object, marks.map(convert))]
    case .Put(let object, .Index(let index), let value):
      return [.Put(object, .Index(UInt64(text.clusters(before: Int(index)))), value)]
    case .Increment(let object, .Index(let index), let amount):
      return [.Increment(object, .Index(UInt64(text.clusters(before: Int(index)))), amount)]
    case .Conflict(let object, .Index(let index)):
      return [.Conflict(object, .Index(UInt64(text.clusters(before: Int(index)))))]
    case .Put, .Increment, .Conflict, .DeleteMap:
      return [action]
    }
  }

  private func convert(_ mark: Mark) -> Mark {
    let start = text.clusters(before: Int(mark.start)), end = text.clusters(before: Int(mark.end))
    return Mark(
      start: UInt64(start), end: UInt64(text.isBoundary(Int(mark.end)) ? end : end + 1), name: mark.name,
      value: mark.value)
  }

  private mutating func replace(
    _ object: ObjId, _ offset: Int, _ count: Int, _ inserted: [UInt8], _ marks: [String: Value],
    inserting values: [Value]?
  ) -> [PatchAction] {
    let old = text
    var utf8 = old.utf8
    utf8.replaceSubrange(offset..<offset + count, with: inserted)
    let new = ClusteredText(utf8), growth = inserted.count - count
    text = new
    // The nearest places on both sides where a cluster ends before and after.
    var first = old.clusters(before: offset)
    while !new.isBoundary(old.boundaries[first]) { first -= 1 }
    var last = old.clusters(before: offset + count)
    while old.boundaries[last] < offset + count || !new.isBoundary(old.boundaries[last] + growth) { last += 1 }
    let start = old.boundaries[first], end = old.boundaries[last] + growth
    let index = UInt64(first)
    if let values, start == offset, end == offset + inserted.count {
      return [.Insert(obj: object, index: index, values: values)]
    }
    var actions: [PatchAction] = []
    if last > first {
      actions.append(.DeleteSeq(DeleteSeq(obj: object, index: index, length: UInt64(last - first))))
    }
    if end > start {
      let value = String(decoding: utf8[start..<end], as: UTF8.self)
      actions.append(.SpliceText(obj: object, index: index, value: value, marks: marks))
    }
    return actions
  }
}
