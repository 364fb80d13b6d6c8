/// Decides whose large message is read next. One portion is read at a time, so that foreign work keeps at most one processor
/// busy; peers take turns; and a peer whose data inflates to much waits until it has paid for that.
@AutomergeRepo
final class IncomingTurns {
  /// The budget for data that inflates to more than text does, of one peer and of all together: at once, and again each minute.
  /// Source: PeerProtocol.md, "Expensive changes".
  static let excessByteCount = 4 << 20
  static let excessOfAll = 8 << 20
  /// A peer waits for what it owes at most this many minutes.
  static let maximumMinutes = 4

  private struct Account {
    var left: Int
    var at: Duration
  }

  private let clock: any RepoClock
  private var isBusy = false
  private var waiting: [(peer: PeerId, continuation: CheckedContinuation<Void, Never>)] = []
  private var accounts: [PeerId: Account] = [:]
  private var common: Account
  private var timer: (any ScheduledAction)?
  /// The peers that had the last turns, latest last.
  private var served: [PeerId] = []

  init(clock: any RepoClock) {
    self.clock = clock
    common = Account(left: Self.excessOfAll, at: clock.now)
  }

  /// Returns when a portion of the peer's may be read.
  func begin(_ peer: PeerId) async {
    await withCheckedContinuation { continuation in
      waiting.append((peer, continuation))
      next()
    }
  }

  /// A portion was read, for which this many bytes were inflated.
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
    let (peer, continuation) = waiting.remove(at: chosen)
    served.removeAll { $0 == peer }
    served.append(peer)
    if served.count > 256 { served.removeFirst() }
    isBusy = true
    continuation.resume()
  }

  private func rank(of peer: PeerId) -> Int { served.lastIndex(of: peer) ?? -1 }

  private func wait() {
    timer?.cancel()
    let delay = waiting.map { self.delay(of: $0.peer) }.min() ?? Duration.seconds(1)
    timer = clock.schedule(after: max(delay, .milliseconds(10))) { [weak self] in self?.next() }
  }

  /// How long until a peer has paid its debt. Debts of others do not delay a peer that has used less than half of its own
  /// budget.
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
