import AutomergeRepo

/// How much of the loop's time the messages of one link take: some at once, and then every other moment.
///
/// A link that has used up its time rests until it is its turn again, so that many small messages, each of which is quick, do
/// not keep keystrokes and other peers waiting.
struct LinkWork {
  /// Source: PeerProtocol.md, "Expensive changes".
  static let atOnce: Duration = .milliseconds(8)

  /// Twice what is left: every moment that passes gives half of itself.
  private var doubleLeft = LinkWork.atOnce + LinkWork.atOnce
  private var countedAt: Duration?
  /// What was used since the last rest.
  private(set) var used: Duration = .zero

  /// Notes that messages have taken some time until now. Returns whether the link has to rest.
  mutating func worked(_ time: Duration, at now: Duration) -> Bool {
    let passed = countedAt.map { now - $0 } ?? .zero
    countedAt = now
    doubleLeft = min(LinkWork.atOnce + LinkWork.atOnce, doubleLeft + passed) - time - time
    used += time
    return doubleLeft < .zero
  }

  mutating func rested() { used = .zero }
}

/// Lets links that rest go on one after the other, so that all of them together leave half of the time to everything else.
@AutomergeRepo
final class WorkShare {
  private var freeAt: Duration = .zero

  nonisolated init() {}

  /// How long a link has to rest that has used so much.
  func rest(after used: Duration, at now: Duration) -> Duration {
    freeAt = max(freeAt, now) + used
    return freeAt - now
  }
}
