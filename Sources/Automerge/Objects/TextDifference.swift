/// The edits that turn one text into another, in whole grapheme clusters, as few as the search finds.
struct TextDifference {
  /// One replacement: a range of the old text's UTF-8 by a range of the new one's.
  struct Edit: Equatable {
    var old: Range<Int>
    var new: Range<Int>
  }

  /// From left to right; the text between them is equal in both.
  private(set) var edits: [Edit] = []

  /// Texts that differ by more clusters than this are compared line by line first, so that time is bounded by this
  /// number times the length, and memory by its square.
  private static let maximumDistance = 1000

  /// - Complexity: O(n) in the texts, plus O(n d) in the part that differs, where d is the number of clusters inserted
  ///   and deleted, as long as that is less than `maximumDistance`
  init(from old: String, to new: String) {
    let old = Clusters(old), new = Clusters(new)
    var prefix = 0, suffix = 0
    let shorter = min(old.count, new.count)
    while prefix < shorter, old[prefix] == new[prefix] { prefix += 1 }
    while suffix < shorter - prefix, old[old.count - suffix - 1] == new[new.count - suffix - 1] { suffix += 1 }
    let oldMiddle = prefix..<old.count - suffix, newMiddle = prefix..<new.count - suffix
    if oldMiddle.isEmpty, newMiddle.isEmpty { return }
    var numbers: [ArraySlice<UInt8>: Int] = [:]
    func number(_ clusters: Clusters, _ range: Range<Int>) -> [Int] {
      range.map { numbers.number(of: clusters[$0]) }
    }
    let oldNumbers = number(old, oldMiddle), newNumbers = number(new, newMiddle)
    let lineFeed = numbers[[0x0A]] ?? -1
    for hunk in Self.hunks(oldNumbers, newNumbers, lineFeed: lineFeed) {
      edits.append(
        Edit(
          old: old.offset(prefix + hunk.old.lowerBound)..<old.offset(prefix + hunk.old.upperBound),
          new: new.offset(prefix + hunk.new.lowerBound)..<new.offset(prefix + hunk.new.upperBound)))
    }
  }

  private static func hunks(_ old: [Int], _ new: [Int], lineFeed: Int) -> [Edit] {
    if let hunks = shortest(old, new) { return hunks }
    let oldLines = lines(old, lineFeed), newLines = lines(new, lineFeed)
    var numbers: [ArraySlice<Int>: Int] = [:]
    func number(_ clusters: [Int], _ lines: [Range<Int>]) -> [Int] { lines.map { numbers.number(of: clusters[$0]) } }
    let whole = [Edit(old: 0..<old.count, new: 0..<new.count)]
    guard let lineHunks = shortest(number(old, oldLines), number(new, newLines)) else { return whole }
    return lineHunks.flatMap { hunk -> [Edit] in
      let oldRange = span(oldLines, hunk.old, end: old.count), newRange = span(newLines, hunk.new, end: new.count)
      guard let inner = shortest(Array(old[oldRange]), Array(new[newRange])) else {
        return [Edit(old: oldRange, new: newRange)]
      }
      return inner.map { edit in
        Edit(
          old: oldRange.lowerBound + edit.old.lowerBound..<oldRange.lowerBound + edit.old.upperBound,
          new: newRange.lowerBound + edit.new.lowerBound..<newRange.lowerBound + edit.new.upperBound)
      }
    }
  }

  private static func lines(_ numbers: [Int], _ lineFeed: Int) -> [Range<Int>] {
    var lines: [Range<Int>] = [], start = 0
    for (index, number) in numbers.enumerated() where number == lineFeed {
      lines.append(start..<index + 1)
      start = index + 1
    }
    if start < numbers.count { lines.append(start..<numbers.count) }
    return lines
  }

  private static func span(_ lines: [Range<Int>], _ range: Range<Int>, end: Int) -> Range<Int> {
    let start = range.lowerBound < lines.count ? lines[range.lowerBound].lowerBound : end
    return start..<(range.isEmpty ? start : lines[range.upperBound - 1].upperBound)
  }

  /// The shortest edits from one sequence to the other, by Myers' greedy algorithm (An O(ND) Difference Algorithm and
  /// Its Variations, 1986); nil if there are more than `maximumDistance`.
  private static func shortest(_ old: [Int], _ new: [Int]) -> [Edit]? {
    let limit = min(old.count + new.count, maximumDistance)
    // For each distance, how far along `old` each diagonal, -distance...distance, reaches.
    var reach = [Int32](repeating: 0, count: 2 * limit + 3), trace: [[Int32]] = []
    let middle = limit + 1
    for distance in 0...limit {
      for diagonal in stride(from: -distance, through: distance, by: 2) {
        let at = middle + diagonal
        let isDown = diagonal == -distance || (diagonal != distance && reach[at - 1] < reach[at + 1])
        var x = Int(isDown ? reach[at + 1] : reach[at - 1] + 1)
        while x < old.count, x - diagonal < new.count, old[x] == new[x - diagonal] { x += 1 }
        reach[at] = Int32(x)
        if x >= old.count, x - diagonal >= new.count {
          return way(trace, distance, diagonal: diagonal)
        }
      }
      trace.append(Array(reach[middle - distance...middle + distance]))
    }
    return nil
  }

  /// Walks back from the end along the diagonals that reached it.
  private static func way(_ trace: [[Int32]], _ distance: Int, diagonal: Int) -> [Edit] {
    var edits: [Edit] = [], diagonal = diagonal
    for step in stride(from: distance - 1, through: 0, by: -1) {
      func reach(_ diagonal: Int) -> Int { abs(diagonal) > step ? -1 : Int(trace[step][diagonal + step]) }
      let isDown = diagonal == -(step + 1) || (diagonal != step + 1 && reach(diagonal - 1) < reach(diagonal + 1))
      let x = isDown ? reach(diagonal + 1) : reach(diagonal - 1)
      let y = isDown ? x - diagonal - 1 : x - diagonal + 1
      let edit = Edit(old: x..<(isDown ? x : x + 1), new: y..<(isDown ? y + 1 : y))
      if let next = edits.last, next.old.lowerBound == edit.old.upperBound, next.new.lowerBound == edit.new.upperBound {
        edits[edits.count - 1] = Edit(
          old: edit.old.lowerBound..<next.old.upperBound, new: edit.new.lowerBound..<next.new.upperBound)
      } else {
        edits.append(edit)
      }
      diagonal += isDown ? 1 : -1
    }
    return edits.reversed()
  }
}

extension Dictionary where Value == Int {
  /// The number of a key; a new key gets the next one.
  fileprivate mutating func number(of key: Key) -> Int {
    if let known = self[key] { return known }
    self[key] = count
    return count - 1
  }
}

/// A text split into grapheme clusters, compared by their bytes.
private struct Clusters {
  private let utf8: [UInt8]
  /// Where each cluster begins, and the end.
  private var offsets: [Int] = [0]

  init(_ text: String) {
    utf8 = Array(text.utf8)
    var offset = 0
    for character in text {
      offset += character.utf8.count
      offsets.append(offset)
    }
  }

  var count: Int { offsets.count - 1 }
  func offset(_ index: Int) -> Int { offsets[index] }
  subscript(index: Int) -> ArraySlice<UInt8> { utf8[offsets[index]..<offsets[index + 1]] }
}
