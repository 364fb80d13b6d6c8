/// The progress of an import of many documents, for a person who waits: at most a line a second, and none for a short
/// import.
struct ImportProgress {
  private static let interval: Duration = .seconds(1)

  private let total: Int
  private var count = 0
  private var toldAt: Duration

  init(total: Int, at now: Duration) { (self.total, toldAt) = (total, now) }

  /// Call before each document. Returns a line to show, or nil.
  mutating func step(at now: Duration) -> String? {
    defer { count += 1 }
    guard now - toldAt >= Self.interval else { return nil }
    toldAt = now
    return "Importing… \(count) of \(total)"
  }
}
