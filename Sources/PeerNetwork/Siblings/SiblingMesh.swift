import AutomergeRepo
import PeerTransport

/// Decides which other processes on its store a process calls, and when. Every two of them are connected.
///
///     waiting ──patience──► calling ──connected──► connected
///                            ▲   │ failed              │ lost
///                            └───┴──── pausing ◄───────┘
///
/// A process that has just started calls every process in its first list, because these do not know of it yet. A process that finds a
/// new one later waits for its call. After a loss the process with the smaller id calls, and the other one waits. The waiting process
/// calls too if no call comes, as when it cannot be reached. If both called at once, the calls would cross, and one connection would
/// replace the other with messages under way on it. So of two waiting processes, as when each has read its first list before the other
/// was in it, the one with the smaller id waits half as long.
/// A process that has left the list is not called. An existing connection stays, because the list may be old.
struct SiblingMesh {
  /// Source: Storage.md, "PostgreSQL".
  static let patience: Duration = .seconds(2)
  static let firstPause: Duration = .milliseconds(100)
  static let maximumPause: Duration = .seconds(1)

  enum Event: Equatable {
    /// All other processes that are known now, with their addresses.
    case found([PeerId: [PeerAddress]])
    case connected(PeerId)
    case failed(PeerId)
    case lost(PeerId)
    /// The timer of this number.
    case timerFired(PeerId, Int)
  }

  enum Effect: Equatable {
    /// Answer with `connected` or `failed`.
    case call(PeerId, [PeerAddress])
    /// Answer with `timerFired` and this number.
    case startTimer(PeerId, Duration, Int)
  }

  private enum State {
    case waiting(timer: Int)
    case calling(pause: Duration)
    case pausing(timer: Int, next: Duration)
    case connected
  }

  private let local: PeerId
  private var addresses: [PeerId: [PeerAddress]] = [:]
  private var states: [PeerId: State] = [:]
  /// Whether the first list has arrived.
  private var hasList = false
  /// How many timers were started.
  private var timerCount = 0

  init(local: PeerId) { self.local = local }

  /// Whether a process is one of the others on the store.
  func knows(_ peer: PeerId) -> Bool { addresses[peer] != nil }

  mutating func receive(_ event: Event) -> [Effect] {
    switch event {
    case .found(let found): return self.found(found)
    case .connected(let peer):
      states[peer] = .connected
      return []
    case .failed(let peer):
      guard case .calling(let pause) = states[peer] else { return [] }
      return self.pause(peer, pause)
    case .lost(let peer):
      guard case .connected = states[peer] else { return [] }
      return local < peer ? pause(peer, Self.firstPause) : wait(for: peer)
    case .timerFired(let peer, let number):
      switch states[peer] {
      case .waiting(number): return call(peer, pause: Self.firstPause)
      case .pausing(number, let next): return call(peer, pause: next)
      // The timer of an earlier state.
      case .waiting, .pausing, .calling, .connected, nil: return []
      }
    }
  }

  private mutating func found(_ found: [PeerId: [PeerAddress]]) -> [Effect] {
    let isFirst = !hasList
    hasList = true
    addresses = found.filter { $0.key != local }
    for (peer, state) in states where addresses[peer] == nil {
      if case .connected = state { continue }
      states[peer] = nil
    }
    return addresses.keys.sorted().filter { states[$0] == nil }.flatMap { peer in
      isFirst ? call(peer, pause: Self.firstPause) : wait(for: peer)
    }
  }

  private mutating func wait(for peer: PeerId) -> [Effect] {
    guard addresses[peer] != nil else {
      states[peer] = nil
      return []
    }
    timerCount += 1
    states[peer] = .waiting(timer: timerCount)
    return [.startTimer(peer, local < peer ? Self.patience / 2 : Self.patience, timerCount)]
  }

  private mutating func call(_ peer: PeerId, pause: Duration) -> [Effect] {
    guard let list = addresses[peer] else {
      states[peer] = nil
      return []
    }
    guard !list.isEmpty else { return self.pause(peer, Self.maximumPause) }
    states[peer] = .calling(pause: pause)
    return [.call(peer, list)]
  }

  private mutating func pause(_ peer: PeerId, _ pause: Duration) -> [Effect] {
    guard addresses[peer] != nil else {
      states[peer] = nil
      return []
    }
    timerCount += 1
    states[peer] = .pausing(timer: timerCount, next: min(pause * 2, Self.maximumPause))
    return [.startTimer(peer, pause, timerCount)]
  }
}
