/// Decides whose large message is read next. One portion is read at a time, so that peers keep at most one processor
/// busy; peers take turns; and a peer whose data inflate to many bytes waits until its budget covers them.
@AutomergeRepo
final class IncomingTurns {
  /// The budget for inflated bytes beyond what text inflates to, of each peer and of all together: available at once,
  /// and again each minute. Source: PeerProtocol.md, "Expensive changes".
  static let excessByteCount = 4 << 20
  static let excessOfAll = 8 << 20
  /// When there are more accounts than this, those that have their whole budget again are closed.
  static let maximumAccounts = 256
  /// The longest that a peer waits for its budget, in minutes.
  static let maximumMinutes = 4

  /// Whose budget a message uses. All that show one token have one, or a new id would be a new budget.
  private enum Payer: Hashable {
    case peer(PeerId)
    case proof(PeerProof)
  }

  private struct Account {
    var left: Int
    var at: Duration
  }

  private struct Waiter {
    let peer: PeerId
    let payer: Payer
    let messages: AnyObject
    let continuation: CheckedContinuation<Bool, Never>
  }

  private let clock: any RepoClock
  /// What a connected peer has proved.
  private let proof: @AutomergeRepo (PeerId) -> PeerProof?
  /// Who pays for the portion that is being read, even if the peer has gone meanwhile.
  private var reading: Payer?
  private var waiting: [Waiter] = []
  private var accounts: [Payer: Account] = [:]
  private var common: Account
  private var timer: (any ScheduledAction)?
  /// The peers that had the last turns, most recent last.
  private var served: [PeerId] = []

  init(clock: any RepoClock, proof: @escaping @AutomergeRepo (PeerId) -> PeerProof?) {
    (self.clock, self.proof) = (clock, proof)
    common = Account(left: Self.excessOfAll, at: clock.now)
  }

  /// Returns true when a portion of the peer's message may be read, or false when `messages` are withdrawn before.
  func begin(_ peer: PeerId, for messages: AnyObject) async -> Bool {
    await withCheckedContinuation { continuation in
      waiting.append(Waiter(peer: peer, payer: payer(for: peer), messages: messages, continuation: continuation))
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

  /// Whether a portion is being read.
  var isReading: Bool { reading != nil }

  var accountCount: Int { accounts.count }

  /// Whether a peer has to wait until its budget is balanced.
  func isInDebt(_ peer: PeerId) -> Bool { delay(of: payer(for: peer)) > .zero }

  /// Call when a portion was read, with the bytes that are charged for it.
  func end(_ peer: PeerId, excess: Int) {
    let payer = reading ?? payer(for: peer)
    reading = nil
    if excess > 0 {
      accounts[payer] = paid(accounts[payer], excess, limit: Self.excessByteCount)
      common = paid(common, excess, limit: Self.excessOfAll)
      if accounts.count > Self.maximumAccounts {
        accounts = accounts.filter { balance(of: $0.value, limit: Self.excessByteCount) < Self.excessByteCount }
      }
    }
    next()
  }

  private func payer(for peer: PeerId) -> Payer {
    let proof = proof(peer)
    return switch proof {
    case .token?, .address?: proof.map { .proof($0) } ?? .peer(peer)
    case .key?, .sameUser?, nil: .peer(peer)
    }
  }

  private func next() {
    guard reading == nil, !waiting.isEmpty else { return }
    let candidates = waiting.indices.filter { delay(of: waiting[$0].payer) == .zero }
    // The peer that has waited longest since its last turn.
    let chosen = candidates.min { rank(of: waiting[$0].peer) < rank(of: waiting[$1].peer) }
    guard let chosen else { return wait() }
    let waiter = waiting.remove(at: chosen)
    served.removeAll { $0 == waiter.peer }
    served.append(waiter.peer)
    if served.count > 256 { served.removeFirst() }
    reading = waiter.payer
    waiter.continuation.resume(returning: true)
  }

  private func rank(of peer: PeerId) -> Int { served.lastIndex(of: peer) ?? -1 }

  private func wait() {
    timer?.cancel()
    let delay = waiting.map { self.delay(of: $0.payer) }.min() ?? Duration.seconds(1)
    timer = clock.schedule(after: max(delay, .milliseconds(10))) { [weak self] in self?.next() }
  }

  /// How long a peer waits until the budget is balanced. One that has used less than half of its own budget does not
  /// wait for the debts of others.
  private func delay(of payer: Payer) -> Duration {
    guard let account = accounts[payer] else { return .zero }
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
    let left = (account.map { balance(of: $0, limit: limit) } ?? limit) - excess
    return Account(left: max(left, -Self.maximumMinutes * limit), at: clock.now)
  }

  /// What is left now, with what was earned since.
  private func balance(of account: Account, limit: Int) -> Int {
    let (seconds, attoseconds) = (clock.now - account.at).components
    let minutes = (Double(seconds) + Double(attoseconds) / 1e18) / 60
    return min(limit, account.left + Int(min(minutes, 10) * Double(limit)))
  }
}
