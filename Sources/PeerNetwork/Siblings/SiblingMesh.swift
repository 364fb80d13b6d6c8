import AutomergeRepo
import PeerTransport

/// Whom a process calls of the others on its store, and when. Each two of them are connected.
///
///     waiting ──patience──► calling ──connected──► connected
///                            ▲   │ failed              │ lost
///                            └───┴──── pausing ◄───────┘
///
/// The one with the smaller id calls; the other one waits, and calls too if nothing comes, as when it is not to be reached itself.
/// A process that is not in the list any more is not called. A connection that is there stays: the list may be old.
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
    case timerFired(PeerId)
  }

  enum Effect: Equatable {
    /// To be answered with `connected` or `failed`.
    case call(PeerId, [PeerAddress])
    case startTimer(PeerId, Duration)
  }

  private enum State {
    case waiting
    case calling(pause: Duration)
    case pausing(next: Duration)
    case connected
  }

  private let local: PeerId
  private var addresses: [PeerId: [PeerAddress]] = [:]
  private var states: [PeerId: State] = [:]

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
      return pause(peer, Self.firstPause)
    case .timerFired(let peer):
      switch states[peer] {
      case .waiting: return call(peer, pause: Self.firstPause)
      case .pausing(let next): return call(peer, pause: next)
      case .calling, .connected, nil: return []
      }
    }
  }

  private mutating func found(_ found: [PeerId: [PeerAddress]]) -> [Effect] {
    addresses = found.filter { $0.key != local }
    for (peer, state) in states where addresses[peer] == nil {
      if case .connected = state { continue }
      states[peer] = nil
    }
    return addresses.keys.sorted().filter { states[$0] == nil }.flatMap { peer in
      if local < peer { return call(peer, pause: Self.firstPause) }
      states[peer] = .waiting
      return [.startTimer(peer, Self.patience)]
    }
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
    states[peer] = .pausing(next: min(pause * 2, Self.maximumPause))
    return [.startTimer(peer, pause)]
  }
}
