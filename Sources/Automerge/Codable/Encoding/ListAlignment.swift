/// How one list becomes another in few steps, from front to back.
enum ListStep: Equatable {
  /// The element stays, and is updated in place if needed.
  case keep(old: Int, new: Int)
  case delete(old: Int)
  case insert(new: Int)
}

/// An element that two lists have in common.
struct ListMatch: Equatable {
  let old: Int
  let new: Int
}

/// What two lists have in common, and how one becomes the other.
enum ListAlignment {
  /// With more differences than this, the middle of the lists counts as entirely different, so that time and memory
  /// stay bounded: time by this many times the length, memory by its square.
  static let differenceLimit = 512

  /// No more comparisons than this are made, which takes a fraction of a second; repetitive lists could need far more.
  private static let comparisonLimit = 1 << 23

  /// The steps from `old` to `new`. Matches as many equal elements as possible in order; between two matches, pairs
  /// elements by position, to be updated in place.
  /// - Complexity: O((n + m) · d), d the number of differences, at most `differenceLimit`.
  static func steps<Element: Equatable>(from old: [Element], to new: [Element]) -> [ListStep] {
    var steps: [ListStep] = []
    var nextOld = 0, nextNew = 0
    for match in matches(old, new) {
      steps += pairing(nextOld..<match.old, nextNew..<match.new)
      steps.append(.keep(old: match.old, new: match.new))
      (nextOld, nextNew) = (match.old + 1, match.new + 1)
    }
    return steps + pairing(nextOld..<old.count, nextNew..<new.count)
  }

  private static func pairing(_ old: Range<Int>, _ new: Range<Int>) -> [ListStep] {
    let paired = zip(old, new).map { ListStep.keep(old: $0, new: $1) }
    return paired + old.dropFirst(paired.count).map { .delete(old: $0) }
      + new.dropFirst(paired.count).map { .insert(new: $0) }
  }

  /// The equal elements in the order of both lists, as many as possible; only those at the start and at the end if there
  /// are more than `differenceLimit` differences, or finding them takes too long.
  /// - Complexity: O((n + m) · d), d the number of differences, at most `differenceLimit`.
  static func matches<Element: Equatable>(_ old: [Element], _ new: [Element]) -> [ListMatch] {
    let shorter = min(old.count, new.count)
    var head = 0
    while head < shorter, old[head] == new[head] { head += 1 }
    var tail = 0
    while tail < shorter - head, old[old.count - 1 - tail] == new[new.count - 1 - tail] { tail += 1 }
    let middle = longestCommonSubsequence(Array(old[head..<old.count - tail]), Array(new[head..<new.count - tail]))
    return (0..<head).map { ListMatch(old: $0, new: $0) }
      + middle.map { ListMatch(old: head + $0.old, new: head + $0.new) }
      + (0..<tail).map { ListMatch(old: old.count - tail + $0, new: new.count - tail + $0) }
  }

  /// The greedy algorithm of E. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986). A diagonal is an old
  /// index minus a new one; `reach` is the old index that each diagonal has reached.
  private static func longestCommonSubsequence<Element: Equatable>(_ old: [Element], _ new: [Element]) -> [ListMatch] {
    guard !old.isEmpty, !new.isEmpty else { return [] }
    let limit = min(old.count + new.count, differenceLimit)
    let zero = limit + 1
    var reach = [Int](repeating: 0, count: 2 * limit + 3)
    var reachBefore: [[Int]] = []
    var comparisons = 0
    for differences in 0...limit {
      reachBefore.append(Array(reach[zero - differences - 1...zero + differences + 1]))
      for diagonal in stride(from: -differences, through: differences, by: 2) {
        let inserts = comesByInsertion(diagonal, differences, reach, zero)
        var x = inserts ? reach[zero + diagonal + 1] : reach[zero + diagonal - 1] + 1
        let start = x
        while x < old.count, x - diagonal < new.count, old[x] == new[x - diagonal] { x += 1 }
        comparisons += x - start
        guard comparisons < comparisonLimit else { return [] }
        reach[zero + diagonal] = x
        if x >= old.count, x - diagonal >= new.count { return retrace(reachBefore, old.count, new.count) }
      }
    }
    return []
  }

  private static func comesByInsertion(_ diagonal: Int, _ differences: Int, _ reach: [Int], _ zero: Int) -> Bool {
    if diagonal == -differences { return true }
    if diagonal == differences { return false }
    return reach[zero + diagonal - 1] < reach[zero + diagonal + 1]
  }

  private static func retrace(_ reachBefore: [[Int]], _ oldCount: Int, _ newCount: Int) -> [ListMatch] {
    var matches: [ListMatch] = []
    var x = oldCount, y = newCount
    for (differences, reach) in reachBefore.enumerated().reversed() {
      let zero = differences + 1, diagonal = x - y
      let inserts = comesByInsertion(diagonal, differences, reach, zero)
      let before = inserts ? diagonal + 1 : diagonal - 1
      let start = differences == 0 ? 0 : inserts ? reach[zero + before] : reach[zero + before] + 1
      while x > start {
        (x, y) = (x - 1, y - 1)
        matches.append(ListMatch(old: x, new: y))
      }
      if differences > 0 { (x, y) = (reach[zero + before], reach[zero + before] - before) }
    }
    return matches.reversed()
  }
}
