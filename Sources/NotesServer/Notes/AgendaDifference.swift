/// The differences between an agenda and an earlier state of it, and the meeting's former title.
struct AgendaDifference: Hashable {
  struct Item: Hashable {
    var isNew = false
    var isMoved = false
    /// The item's former title; nil if it has not changed.
    var formerTitle: String?
  }

  /// By the items' ids; unchanged items have no entry.
  private(set) var items: [String: Item] = [:]
  /// The titles of the items that no longer exist.
  private(set) var deleted: [String] = []
  /// The meeting's former title; nil if it has not changed.
  private(set) var formerTitle: String?

  var isEmpty: Bool { items.isEmpty && deleted.isEmpty && formerTitle == nil }

  /// Nothing has changed.
  init() {}

  /// The items that count as moved are the fewest that explain the new order.
  ///
  /// - Parameter ignored: the ids of items that are not reported as new or moved
  /// - Complexity: O(n log n)
  init(from old: [AgendaEntry], to new: [AgendaEntry], ignoring ignored: Set<String> = []) {
    let before = Dictionary(old.enumerated().map { ($1.id, (place: $0, title: $1.title)) }) { first, _ in first }
    let after = Set(new.map(\.id))
    deleted = old.filter { !after.contains($0.id) }.map(\.title)
    for entry in new {
      guard let known = before[entry.id] else {
        if !ignored.contains(entry.id) { items[entry.id] = Item(isNew: true) }
        continue
      }
      if known.title != entry.title { items[entry.id] = Item(formerTitle: known.title) }
    }
    let stayed = new.filter { !ignored.contains($0.id) }.compactMap { entry in
      before[entry.id].map { (id: entry.id, place: $0.place) }
    }
    let ascending = Self.longestAscent(stayed.map(\.place))
    for (index, entry) in stayed.enumerated() where !ascending.contains(index) {
      items[entry.id, default: Item()].isMoved = true
    }
  }

  /// The meeting has the second title instead of the first.
  mutating func retitle(from former: String, to title: String) {
    let first = formerTitle ?? former
    formerTitle = first == title ? nil : first
  }

  /// Adds later differences.
  mutating func add(_ later: AgendaDifference) {
    for (id, item) in later.items {
      guard var known = items[id] else {
        items[id] = item
        continue
      }
      known.isMoved = known.isMoved || item.isMoved
      known.formerTitle = known.formerTitle ?? item.formerTitle
      items[id] = known
    }
    deleted += later.deleted
    formerTitle = formerTitle ?? later.formerTitle
  }

  /// The indices of a longest ascending subsequence.
  private static func longestAscent(_ numbers: [Int]) -> Set<Int> {
    // For each length, the index of the smallest number that ends an ascent of it.
    var (ends, previous): ([Int], [Int?]) = ([], [])
    for (index, number) in numbers.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      previous.append(low > 0 ? ends[low - 1] : nil)
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var (found, next): (Set<Int>, Int?) = ([], ends.last)
    while let index = next {
      found.insert(index)
      next = previous[index]
    }
    return found
  }
}
