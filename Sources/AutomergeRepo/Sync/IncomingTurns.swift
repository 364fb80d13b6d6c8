/// Decides whose large message is read next. One portion is read at a time, so that peers keep at most one processor
/// busy; peers take turns; and a peer whose data inflate to many bytes waits until its budget covers them.
@AutomergeRepo
final class IncomingTurns {
  /// The budget for inflated bytes beyond what text inflates to, of each peer and of all together: available at once,
  /// and again each minute. Source: PeerProtocol.md, "Expensive changes".
  static let excessByteCount = 4 << 20
  static let excessOfAll = 8 << 20
  /// The longest that a peer waits for its budget, in minutes.
  static let maximumMinutes = 4

  private struct Account {
    var left: Int
    var at: Duration
  }

  private struct Waiter {
    let peer: PeerId
    let messages: AnyObject
    let continuation: CheckedContinuation<Bool, Never>
  }

  private let clock: any RepoClock
  private var isBusy = false
  private var waiting: [Waiter] = []
  private var accounts: [PeerId: Account] = [:]
  private var common: Account
  private var timer: (any ScheduledAction)?
  /// The peers that had the last turns, most recent last.
  private var served: [PeerId] = []

  init(clock: any RepoClock) {
    self.clock = clock
    common = Account(left: Self.excessOfAll, at: clock.now)
  }

  /// Returns true when a portion of the peer's message may be read, or false when `messages` are withdrawn before.
  func begin(_ peer: PeerId, for messages: AnyObject) async -> Bool {
    await withCheckedContinuation { continuation in
      waiting.append(Waiter(peer: peer, messages: messages, continuation: continuation))
      next()
    }
  }

  /// Lets those that wait for a turn for these messages go on without one.
  func withdraw(_ messages: AnyObject) {
    let gone = waiting.filter { $0.messages === messages }
    waiting.removeAll { $0.messages === messages }
    for waiter in gone { waiter.continuation.resume(returning: false) }
  }

  /// How many messages wait for a turn.
  var waitingCount: Int { waiting.count }

  /// Whether a peer has to wait until its budget is balanced.
  func isInDebt(_ peer: PeerId) -> Bool { delay(of: peer) > .zero }

  /// Call when a portion was read, with the bytes that are charged for it.
  func end(_ peer: PeerId, excess: Int) {
    isBusy = false
    if excess > 0 {
      accounts[peer] = paid(accounts[peer], excess, limit: Self.excessByteCount)
      common = paid(common, excess, limit: Self.excessOfAll)
    }
    next()
  }

  private func next() {
    guard !isBusy, !waiting.isEmpty else { return }
    let candidates = waiting.indices.filter { delay(of: waiting[$0].peer) == .zero }
    // The peer that has waited longest since its last turn.
    let chosen = candidates.min { rank(of: waiting[$0].peer) < rank(of: waiting[$1].peer) }
    guard let chosen else { return wait() }
    let waiter = waiting.remove(at: chosen)
    served.removeAll { $0 == waiter.peer }
    served.append(waiter.peer)
    if served.count > 256 { served.removeFirst() }
    isBusy = true
    waiter.continuation.resume(returning: true)
  }

  private func rank(of peer: PeerId) -> Int { served.lastIndex(of: peer) ?? -1 }

  private func wait() {
    timer?.cancel()
    let delay = waiting.map { self.delay(of: $0.peer) }.min() ?? Duration.seconds(1)
    timer = clock.schedule(after: max(delay, .milliseconds(10))) { [weak self] in self?.next() }
  }

  /// How long a peer waits until its budget is balanced. A peer that has used less than half of its own budget does not
  /// wait for the debts of others.
  private func delay(of peer: PeerId) -> Duration {
    guard let account = accounts[peer] else { return .zero }
    let own = Self.delay(account, limit: Self.excessByteCount, now: clock.now)
    guard account.left < Self.excessByteCount / 2 else { return own }
    return max(own, Self.delay(common, limit: Self.excessOfAll, now: clock.now))
  }

  private static func delay(_ account: Account?, limit: Int, now: Duration) -> Duration {
    guard let account, account.left < 0 else { return .zero }
    let due = account.at + Duration.seconds(60) * (Double(-account.left) / Double(limit))
    return max(.zero, due - now)
  }

  private func paid(_ account: Account?, _ excess: Int, limit: Int) -> Account {
    let account = account ?? Account(left: limit, at: clock.now)
    let (seconds, attoseconds) = (clock.now - account.at).components
    let minutes = (Double(seconds) + Double(attoseconds) / 1e18) / 60
    let earned = Int(min(minutes, 10) * Double(limit))
    let left = min(limit, account.left + earned) - excess
    return Account(left: max(left, -Self.maximumMinutes * limit), at: clock.now)
  }
}
