import AutomergeRepo

/// Decides whether a link handles received messages: not while it is held, and not while it rests.
@AutomergeRepo
package final class LinkIntake {
  /// Earlier messages of the peer still wait.
  package var isHeld = false
  /// When the long message that is coming in began.
  package private(set) var unfinishedSince: Duration?
  package private(set) var isResting = false
  private var work = LinkWork()
  /// Decides which links may work when; nil without a limit.
  private let share: WorkShare?
  private let unfinished: UnfinishedFrames?

  package init(_ budgets: LinkBudgets) { (share, unfinished) = (budgets.share, budgets.unfinished) }

  package var isPaused: Bool { isHeld || isResting }

  /// The time of which the share is a part: real time, whatever the link's clock says.
  package var workTime: Duration { share?.clock.now ?? .zero }

  /// Notes that the link has worked since this time, and rests if that was more than its share.
  ///
  /// - Parameter isNew: the other side has not introduced itself yet.
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

  /// Notes how much has come of a message that is not whole.
  package func noteUnfinished(byteCount: Int, at now: Duration) {
    guard byteCount > UnfinishedFrames.longByteCount else { return unfinishedSince = nil }
    unfinishedSince = unfinishedSince ?? now
    unfinished?.grew(at: now)
  }
}
