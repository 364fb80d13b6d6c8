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

  /// The items that count as moved are the fewest that explain the new order, and of equally few those that were made last: a
  /// move makes an item again.
  ///
  /// - Parameters:
  ///   - ages: the ids of the new items, the one that was made last at the end
  ///   - ignored: the ids of items that are not reported as new or moved
  /// - Complexity: O(n log n)
  init(
    from old: [AgendaEntry], to new: [AgendaEntry], byAge ages: [String] = [], ignoring ignored: Set<String> = []
  ) {
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
    // One item more outweighs all ages together.
    let count = new.count + 1
    let ranks = Dictionary(ages.enumerated().map { ($1, $0) }) { first, _ in first }
    let ascending = Self.heaviestAscent(stayed.map { ($0.place, count * count - (ranks[$0.id] ?? 0)) })
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

  /// The indices of the ascending subsequence with the greatest weight.
  private static func heaviestAscent(_ numbers: [(place: Int, weight: Int)]) -> Set<Int> {
    // A Fenwick tree over the places: the heaviest ascent that ends at a place below another.
    var heaviest: [(weight: Int, last: Int?)] = Array(
      repeating: (0, nil), count: (numbers.map(\.place).max() ?? 0) + 2)
    var previous: [Int?] = []
    for (index, number) in numbers.enumerated() {
      var best: (weight: Int, last: Int?) = (0, nil)
      var node = number.place
      while node > 0 {
        if heaviest[node].weight > best.weight { best = heaviest[node] }
        node &= node - 1
      }
      previous.append(best.last)
      node = number.place + 1
      while node < heaviest.count {
        if heaviest[node].weight < best.weight + number.weight { heaviest[node] = (best.weight + number.weight, index) }
        node += node & -node
      }
    }
    var best: (weight: Int, last: Int?) = (0, nil)
    for entry in heaviest where entry.weight > best.weight { best = entry }
    var (found, next): (Set<Int>, Int?) = ([], best.last)
    while let index = next {
      found.insert(index)
      next = previous[index]
    }
    return found
  }
}
