/// What two sequences of numbers have in common, in order. Equal numbers represent equal lines, words or scalars.
///
/// Equal ends are removed first. Myers' algorithm finds the smallest difference where little has changed; elsewhere,
/// elements that occur once on each side are anchors (patience diff). All steps use up a budget; a part for which none
/// is left counts as replaced as a whole. So the cost is bounded for any input. Sources: E. Myers, "An O(ND) difference
/// algorithm", 1986; B. Cohen, "Patience diff advantages", 2010.
struct SequenceDiff {
  /// `count` elements that are the same, from `old` on the one side and `new` on the other.
  struct Match: Hashable {
    var old: Int
    var new: Int
    var count: Int
  }

  private let old: [Int32]
  private let new: [Int32]
  private let distinct: Int
  private(set) var budget: Int
  private var matches: [Match] = []

  /// The most differences that Myers' algorithm looks for in one part. Its cost and memory grow with the square.
  private static let maximumDifferences = 128
  private static let deepestNesting = 24

  /// - Parameters:
  ///   - distinct: one more than the greatest number in either sequence
  ///   - budget: about how many elements may be examined; `budget` holds the rest afterwards
  init(_ old: [Int32], _ new: [Int32], distinct: Int, budget: Int) {
    (self.old, self.new, self.distinct, self.budget) = (old, new, distinct, budget)
  }

  /// What both have in common, from left to right.
  mutating func run() -> [Match] {
    matches = []
    compare(0..<old.count, 0..<new.count, depth: 0)
    return matches
  }

  private mutating func add(_ match: Match) {
    guard match.count > 0 else { return }
    if let last = matches.last, last.old + last.count == match.old, last.new + last.count == match.new {
      matches[matches.count - 1].count += match.count
    } else {
      matches.append(match)
    }
  }

  private mutating func compare(_ oldRange: Range<Int>, _ newRange: Range<Int>, depth: Int) {
    var (a, b) = (oldRange, newRange)
    var prefix = 0
    while prefix < a.count, prefix < b.count, old[a.lowerBound + prefix] == new[b.lowerBound + prefix] { prefix += 1 }
    add(Match(old: a.lowerBound, new: b.lowerBound, count: prefix))
    (a, b) = (a.lowerBound + prefix..<a.upperBound, b.lowerBound + prefix..<b.upperBound)
    var suffix = 0
    while suffix < a.count, suffix < b.count, old[a.upperBound - 1 - suffix] == new[b.upperBound - 1 - suffix] {
      suffix += 1
    }
    (a, b) = (a.lowerBound..<a.upperBound - suffix, b.lowerBound..<b.upperBound - suffix)
    budget -= prefix + suffix
    if !a.isEmpty, !b.isEmpty, budget > 0 {
      if let found = shortest(a, b) {
        for match in found { add(match) }
      } else if depth < Self.deepestNesting {
        let anchors = self.anchors(a, b)
        if !anchors.isEmpty {
          var (oldStart, newStart) = (a.lowerBound, b.lowerBound)
          for (oldIndex, newIndex) in anchors {
            compare(oldStart..<oldIndex, newStart..<newIndex, depth: depth + 1)
            add(Match(old: oldIndex, new: newIndex, count: 1))
            (oldStart, newStart) = (oldIndex + 1, newIndex + 1)
          }
          compare(oldStart..<a.upperBound, newStart..<b.upperBound, depth: depth + 1)
        }
      }
    }
    add(Match(old: a.upperBound, new: b.upperBound, count: suffix))
  }

  /// Myers' greedy algorithm; nil if it would take too many steps.
  private mutating func shortest(_ a: Range<Int>, _ b: Range<Int>) -> [Match]? {
    let limit = min(Self.maximumDifferences, a.count + b.count)
    guard abs(a.count - b.count) <= limit else { return nil }
    var furthest = [Int32](repeating: 0, count: 2 * limit + 3)
    let middle = limit + 1
    var trace: [[Int32]] = []
    for differences in 0...limit {
      trace.append(Array(furthest[middle - differences...middle + differences]))
      budget -= differences + 1
      guard budget > 0 else { return nil }
      for diagonal in stride(from: -differences, through: differences, by: 2) {
        let down =
          diagonal == -differences
          || (diagonal != differences && furthest[middle + diagonal - 1] < furthest[middle + diagonal + 1])
        var x = down ? Int(furthest[middle + diagonal + 1]) : Int(furthest[middle + diagonal - 1]) + 1
        let start = x
        while x < a.count, x - diagonal < b.count, x >= diagonal,
          old[a.lowerBound + x] == new[b.lowerBound + x - diagonal]
        { x += 1 }
        budget -= x - start
        furthest[middle + diagonal] = Int32(x)
        if x >= a.count, x - diagonal >= b.count { return path(trace, a, b) }
      }
    }
    return nil
  }

  /// The matches on the path back from the end, given the furthest points before every step.
  private func path(_ trace: [[Int32]], _ a: Range<Int>, _ b: Range<Int>) -> [Match] {
    var reversed: [Match] = []
    var (x, y) = (a.count, b.count)
    for differences in stride(from: trace.count - 1, through: 0, by: -1) {
      let row = trace[differences]
      func furthest(_ diagonal: Int) -> Int { Int(row[diagonal + differences]) }
      let diagonal = x - y
      var (fromX, fromY) = (0, 0)
      if differences > 0 {
        let down =
          diagonal == -differences || (diagonal != differences && furthest(diagonal - 1) < furthest(diagonal + 1))
        let before = down ? diagonal + 1 : diagonal - 1
        fromX = furthest(before)
        fromY = fromX - before
      }
      let matched = differences == 0 ? x : min(x - fromX, y - fromY)
      if matched > 0 {
        reversed.append(Match(old: a.lowerBound + x - matched, new: b.lowerBound + y - matched, count: matched))
      }
      (x, y) = (fromX, fromY)
    }
    return reversed.reversed()
  }

  /// Pairs of elements that occur once on each side: the longest sequence of them that is in order on both.
  private mutating func anchors(_ a: Range<Int>, _ b: Range<Int>) -> [(Int, Int)] {
    budget -= a.count + b.count
    guard budget > 0 else { return [] }
    var counter = OccurrenceCounter(capacity: distinct, expected: a.count + b.count)
    for index in a { counter.countOld(old[index], at: index) }
    for index in b { counter.countNew(new[index]) }
    var candidates: [(old: Int, new: Int)] = []
    for index in b {
      if let oldIndex = counter.uniqueOldIndex(of: new[index]) { candidates.append((oldIndex, index)) }
    }
    return Self.longestIncreasing(candidates)
  }

  /// The longest subsequence whose old indices increase; the new ones increase anyway.
  /// - Complexity: O(n · log n)
  private static func longestIncreasing(_ pairs: [(old: Int, new: Int)]) -> [(Int, Int)] {
    var tails: [Int] = []
    var previous = [Int](repeating: -1, count: pairs.count)
    for (index, pair) in pairs.enumerated() {
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if pairs[tails[middle]].old < pair.old { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = tails[low - 1] }
      if low == tails.count { tails.append(index) } else { tails[low] = index }
    }
    var chain: [(Int, Int)] = []
    var index = tails.last ?? -1
    while index >= 0 {
      chain.append((pairs[index].old, pairs[index].new))
      index = previous[index]
    }
    return chain.reversed()
  }
}

/// Counts how often numbers occur on each side, in memory that depends on the smaller of their range and their count.
private struct OccurrenceCounter {
  private struct Entry {
    var oldCount: Int32 = 0
    var newCount: Int32 = 0
    var oldIndex: Int32 = 0
  }

  private var dense: [Entry]
  private var sparse: [Int32: Entry] = [:]

  init(capacity: Int, expected: Int) {
    dense = capacity <= 4 * expected + 64 ? [Entry](repeating: Entry(), count: capacity) : []
  }

  mutating func countOld(_ number: Int32, at index: Int) {
    change(number) { entry in
      entry.oldCount += 1
      entry.oldIndex = Int32(index)
    }
  }

  mutating func countNew(_ number: Int32) {
    change(number) { $0.newCount += 1 }
  }

  func uniqueOldIndex(of number: Int32) -> Int? {
    let entry = dense.isEmpty ? sparse[number] ?? Entry() : dense[Int(number)]
    return entry.oldCount == 1 && entry.newCount == 1 ? Int(entry.oldIndex) : nil
  }

  private mutating func change(_ number: Int32, _ body: (inout Entry) -> Void) {
    if dense.isEmpty { body(&sparse[number, default: Entry()]) } else { body(&dense[Int(number)]) }
  }
}
