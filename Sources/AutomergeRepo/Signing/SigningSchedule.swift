/// Decides when a document's changes are signed: once per burst, never during a keystroke.
///
///     resting ──changed──► waiting ──a tick without changes, or the fourth──► signed, resting
struct SigningSchedule {
  static let tickInterval: Duration = .seconds(1)
  /// Typing without a pause is signed after this many ticks.
  static let maximumTicks = 4

  enum Event {
    /// This person has changed the document.
    case changed
    case ticked
    /// All changes are signed.
    case signed
  }

  enum Effect: Equatable {
    /// Answer with `ticked` after `tickInterval`.
    case startTimer
    /// Answer with `signed`.
    case sign
  }

  private var isTicking = false
  private(set) var isUnsigned = false
  private var hasChangedSinceTick = false
  private var tickCount = 0

  mutating func receive(_ event: Event) -> Effect? {
    switch event {
    case .changed:
      (isUnsigned, hasChangedSinceTick) = (true, true)
      guard !isTicking else { return nil }
      (isTicking, hasChangedSinceTick, tickCount) = (true, false, 0)
      return .startTimer
    case .ticked:
      isTicking = false
      guard isUnsigned else { return nil }
      tickCount += 1
      if !hasChangedSinceTick || tickCount >= Self.maximumTicks { return .sign }
      (isTicking, hasChangedSinceTick) = (true, false)
      return .startTimer
    case .signed:
      isUnsigned = false
      return nil
    }
  }
}
