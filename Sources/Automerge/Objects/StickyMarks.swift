/// The gaps behind marks that an insertion may move past, from left to right.
struct StickyMarks {
  /// With fewer marks, looking through them is quicker.
  private static let mostUnindexed = 32

  private var gaps: [(gap: TextTree.Gap, mark: OpId)] = []
  /// Where marks are among the gaps, or were; empty while there have been few.
  private var places: [OpId: Int] = [:]

  var last: TextTree.Gap? { gaps.last?.gap }

  mutating func append(_ gap: TextTree.Gap, behind mark: OpId) {
    gaps.append((gap, mark))
    if !places.isEmpty {
      places[mark] = gaps.count - 1
    } else if gaps.count > Self.mostUnindexed {
      for (place, each) in gaps.enumerated() { places[each.mark] = place }
    }
  }

  /// Removes the gap behind a mark and all that follow it. Returns whether there was one.
  mutating func removeAll(since mark: OpId) -> Bool {
    guard let place = place(of: mark) else { return false }
    gaps.removeSubrange(place...)
    return true
  }

  private func place(of mark: OpId) -> Int? {
    if places.isEmpty { return gaps.firstIndex { $0.mark == mark } }
    guard let place = places[mark], place < gaps.count, gaps[place].mark == mark else { return nil }
    return place
  }
}
