/// Decides when a document's changes are written.
///
///     idle ──changed──► waiting ──timer or flush──► writing ──saved──► idle, or waiting if changed meanwhile
///                                                     ▲ │ failed
///                                                     │ ▼
///                                                  backingOff
struct StorageSchedule {
  /// How long changes are gathered. Source: Storage.md, "Write path".
  static let gatheringTime: Duration = .milliseconds(50)
  static let firstRetry: Duration = .seconds(1)
  static let longestRetry: Duration = .seconds(30)

  enum Event { case changed, timerFired, flushRequested, saved, failed }
  enum Effect: Equatable { case startTimer(Duration), cancelTimer, write }

  private enum State {
    case idle
    case waiting
    case writing(changed: Bool, failures: Int)
    case backingOff(failures: Int)
  }

  private var state = State.idle

  mutating func receive(_ event: Event) -> [Effect] {
    switch (state, event) {
    case (.idle, .changed):
      state = .waiting
      return [.startTimer(StorageSchedule.gatheringTime)]
    case (.waiting, .timerFired), (.waiting, .flushRequested):
      state = .writing(changed: false, failures: 0)
      return [.cancelTimer, .write]
    case (.backingOff(let failures), .timerFired), (.backingOff(let failures), .flushRequested):
      state = .writing(changed: false, failures: failures)
      return [.cancelTimer, .write]
    case (.writing(_, let failures), .changed):
      state = .writing(changed: true, failures: failures)
      return []
    case (.writing(changed: false, _), .saved):
      state = .idle
      return []
    case (.writing(changed: true, _), .saved):
      state = .waiting
      return [.startTimer(StorageSchedule.gatheringTime)]
    case (.writing(_, let failures), .failed):
      state = .backingOff(failures: failures + 1)
      return [.startTimer(StorageSchedule.retry(after: failures))]
    case (.idle, .timerFired), (.idle, .flushRequested), (.idle, .saved), (.idle, .failed),
      (.waiting, .changed), (.waiting, .saved), (.waiting, .failed),
      (.writing, .timerFired), (.writing, .flushRequested),
      (.backingOff, .changed), (.backingOff, .saved), (.backingOff, .failed):
      return []
    }
  }

  private static func retry(after failures: Int) -> Duration {
    min(longestRetry, firstRetry * (1 << min(failures, 10)))
  }
}
