/// What a repo has observed of its store: how long the last commits of documents took, and how often the store was
/// rebuilt.
struct CommitLog {
  private static let maximumTimes = 4096

  /// The durations of the last commits, in no particular order.
  private(set) var times: [Duration] = []
  /// The durations of all commits since the start.
  private(set) var latency = LatencyHistogram()
  private var commitCount = 0
  private var lossCount: Int

  init(lossCount: Int) { self.lossCount = lossCount }

  mutating func note(_ time: Duration) {
    latency.note(time)
    if times.count < Self.maximumTimes {
      times.append(time)
    } else {
      times[commitCount % Self.maximumTimes] = time
    }
    commitCount += 1
  }

  /// Whether the store was rebuilt since the last call.
  mutating func isLoss(_ lossCount: Int) -> Bool {
    defer { self.lossCount = lossCount }
    return lossCount != self.lossCount
  }
}
