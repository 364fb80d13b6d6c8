import AutomergeRepo

/// The part of the loop's time that the messages of one link, or of several, may take: some at once, and then half of
/// the time.
///
/// A link that has used up its time rests until its next turn, so that many small, quick messages do not delay
/// keystrokes and other peers.
package struct LinkWork {
  /// Source of both limits: PeerProtocol.md, "Expensive changes".
  package static let atOnce: Duration = .milliseconds(8)
  /// The limit while all links together have used up theirs.
  package static let atOnceAmongMany: Duration = .milliseconds(2)
  /// The longest rest, unless a single message took longer: a person who types without a pause would notice a longer
  /// one. It equals what a link may do at once among many, so that the links have half of the time, too.
  package static let maximumRest: Duration = .milliseconds(4)

  private static let all = Self.atOnce + Self.atOnce

  /// Twice the time that is left: half of all time that passes is given back.
  private var doubleLeft = Self.all
  private var countedAt: Duration?
  /// The time that was used and not rested for yet, minus what the moments since have returned: a link that has been
  /// busy for long, but never too busy, does not rest for all of it.
  package private(set) var used: Duration = .zero

  /// Records that messages have taken some time until now. Returns whether the link has to rest.
  package mutating func worked(_ time: Duration, at now: Duration, amongMany: Bool = false) -> Bool {
    let passed = countedAt.map { now - $0 } ?? .zero
    countedAt = now
    doubleLeft = min(Self.all, doubleLeft + passed) - time - time
    used = min(used + time, Self.all - doubleLeft)
    let kept = amongMany ? Self.atOnce - Self.atOnceAmongMany : .zero
    return doubleLeft < kept + kept
  }

  /// The rest that is due now, after a message that took some time. The remainder follows later, with work in between.
  package mutating func takeRest(after time: Duration) -> Duration {
    let rest = min(used, max(Self.maximumRest, time, .zero - doubleLeft))
    used -= rest
    return rest
  }
}

/// Lets resting links resume one after the other, so that together they leave half of the time for everything else.
///
/// Also keeps many links that each do little from filling a turn of the loop together: once they have, each may do less
/// at once. A link that does less than that, such as a typist's, never rests because of the others.
@AutomergeRepo
package final class WorkShare {
  private var freeAt: Duration = .zero
  private var all = LinkWork()
  /// Links whose other side has not introduced itself yet. They are charged together, because each is new.
  private var newcomers = LinkWork()

  /// Measures the links' work, and ends their rests.
  package let clock: any RepoClock

  package nonisolated init(clock: any RepoClock) { self.clock = clock }

  /// Records that a link has worked. Returns how long it has to rest; nil if it may continue.
  ///
  /// - Parameter isNew: whether the other side of the link has not introduced itself yet
  package func worked(_ time: Duration, by link: inout LinkWork, isNew: Bool = false, at now: Duration) -> Duration? {
    let amongMany = all.worked(time, at: now)
    var mustRest = link.worked(time, at: now, amongMany: amongMany)
    if isNew, newcomers.worked(time, at: now) { mustRest = true }
    guard mustRest else { return nil }
    freeAt = max(freeAt, now) + link.takeRest(after: time)
    return freeAt - now
  }
}
