/// Decides when a document's changes are written.
///
///     idle ──changed──► waiting ──timer or flush──► writing ──saved──► idle, or waiting if changed meanwhile
///                                                     ▲ │ failed
///                                                     │ ▼
///                                                  backingOff
///
/// Once closed, nothing is written any more.
struct StorageSchedule {
  /// How long changes are gathered before they are written. Source: Storage.md, "Write path".
  static let gatheringTime: Duration = .milliseconds(50)
  /// The pause before a retry after a failure. Short, so that the status changes soon after a person has freed space on
  /// a full disk. Source: Storage.md, "When it fails".
  static let retryInterval: Duration = .seconds(1)

  enum Event { case changed, timerFired, flushRequested, saved, failed, closed }
  enum Effect: Equatable { case startTimer(Duration), cancelTimer, write }

  private enum State {
    case idle
    case waiting
    case writing(changed: Bool)
    case backingOff
    case closed
  }

  private var state = State.idle

  var isClosed: Bool { if case .closed = state { true } else { false } }

  mutating func receive(_ event: Event) -> [Effect] {
    switch (state, event) {
    case (.closed, _): return []
    case (_, .closed):
      state = .closed
      return [.cancelTimer]
    case (.idle, .changed):
      state = .waiting
      return [.startTimer(Self.gatheringTime)]
    case (.waiting, .timerFired), (.waiting, .flushRequested), (.backingOff, .timerFired),
      (.backingOff, .flushRequested):
      state = .writing(changed: false)
      return [.cancelTimer, .write]
    case (.writing, .changed):
      state = .writing(changed: true)
      return []
    case (.writing(changed: false), .saved):
      state = .idle
      return []
    case (.writing(changed: true), .saved):
      state = .waiting
      return [.startTimer(Self.gatheringTime)]
    case (.writing, .failed):
      state = .backingOff
      return [.startTimer(Self.retryInterval)]
    case (.idle, .timerFired), (.idle, .flushRequested), (.idle, .saved), (.idle, .failed),
      (.waiting, .changed), (.waiting, .saved), (.waiting, .failed),
      (.writing, .timerFired), (.writing, .flushRequested),
      (.backingOff, .changed), (.backingOff, .saved), (.backingOff, .failed):
      return []
    }
  }
}
