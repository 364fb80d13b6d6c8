import AutomergeRepo

/// Decides whether a link handles received messages: not while it is held, and not while it rests.
@AutomergeRepo
package final class LinkIntake {
  /// Whether earlier messages of the peer still wait.
  package var isHeld = false
  /// When the message began that is arriving now, if it is long.
  package private(set) var unfinishedSince: Duration?
  package private(set) var isResting = false
  /// How many received bytes of an unfinished message were noted last.
  private var unfinishedByteCount = 0
  private var work = LinkWork()
  /// Decides which links may work at a time; nil without a limit.
  private let share: WorkShare?
  private let unfinished: UnfinishedFrames?

  package init(_ budgets: LinkBudgets) { (share, unfinished) = (budgets.share, budgets.unfinished) }

  package var isPaused: Bool { isHeld || isResting }

  /// The time that is divided among the links: real time, whatever the link's clock says.
  package var workTime: Duration { share?.clock.now ?? .zero }

  /// Records that the link has worked since this time. Lets the link rest if that was more than its share.
  ///
  /// - Parameter isNew: whether the other side has not introduced itself yet
  package func worked(since start: Duration, isNew: Bool, onRested: @escaping @AutomergeRepo () -> Void) {
    guard let share else { return }
    let now = share.clock.now
    guard let rest = share.worked(now - start, by: &work, isNew: isNew, at: now), !isResting else { return }
    isResting = true
    _ = share.clock.schedule(after: rest) { [weak self] in
      self?.isResting = false
      onRested()
    }
  }

  /// Records how much of an unfinished message has arrived; 0 when the link ends.
  package func noteUnfinished(byteCount: Int, at now: Duration) {
    let growth = byteCount - unfinishedByteCount
    unfinishedByteCount = byteCount
    unfinishedSince = byteCount > UnfinishedFrames.longByteCount ? unfinishedSince ?? now : nil
    unfinished?.changed(by: growth, at: now)
  }
}
