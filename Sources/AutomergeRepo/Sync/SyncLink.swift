import Automerge
import Foundation

/// One peer's part in the exchange of a document:
///
///     asked ──"unavailable"──► lacking
///       │                         │ speaks of the document, or the document is found elsewhere
///       └──speaks of it───────────┴──► exchanging
struct SyncLink {
  let peer: PeerId
  var access: Access
  /// What is shared with the peer. Of an earlier connection, only what was certainly shared is kept.
  var shared: SyncState
  var state = State.exchanging(Exchange())
  var outlet = Outlet.open
  /// The peer's last heads; nil if it has sent none.
  var heads: Set<ChangeHash>?
  /// What the peer's large message says that it has, while that message is read; nil if none is.
  var announced: Announced?
  /// How many times the peer has asked for everything since the last check.
  var wholeCount = 0

  enum State {
    /// We have asked the peer for the document, and it has not answered. Only during a search.
    case asked
    /// The peer lacks the document, and is told nothing more about it, except an answer if it has asked us, too.
    case lacking(awaitsAnswer: Bool)
    /// The peer is told of changes. During a search, it has begun to send the document.
    case exchanging(Exchange)
  }

  /// The state of an exchange.
  struct Exchange {
    /// Whether the peer has asked, and has no answer yet.
    var awaitsAnswer = false
    /// What the last check found; nil if the heads were equal.
    var difference: SyncDifference?
    /// Whether the peer's last changes were unusable.
    var hasUnusable = false
    /// The last message without changes that we sent the peer while it brought changes that we refuse.
    var lastEmpty: Data?
  }

  /// What a peer has, by the header of a message of which the changes are not applied yet.
  struct Announced {
    var heads: Set<ChangeHash>
    /// Nil if the message does not say.
    var changeCount: Int?
  }

  /// The peer's answer to a search.
  var answer: FindProgress.Answer {
    switch state {
    case .asked: .asked
    case .lacking: .lacks
    case .exchanging: .sends
    }
  }

  /// Whether anything can be sent to the peer now.
  enum Outlet {
    case open
    /// The peer has not been told of the last changes yet. The peer with the lowest number has waited longest.
    case waiting(Int)
    /// Many bytes wait on the connection, so the peer is told nothing new.
    case crowded
  }

  init(to peer: PeerId, access: Access, shared: SyncState) {
    (self.peer, self.access, self.shared) = (peer, access, shared)
  }

  var isLacking: Bool { if case .lacking = state { true } else { false } }

  var isExchanging: Bool { if case .exchanging = state { true } else { false } }

  var isCrowded: Bool { if case .crowded = outlet { true } else { false } }

  /// The number under which the peer waits for its turn; nil if it does not wait.
  var turn: Int? { if case .waiting(let number) = outlet { number } else { nil } }

  /// Whether the peer has asked, and has no answer yet.
  var awaitsAnswer: Bool {
    get {
      switch state {
      case .asked: false
      case .lacking(let awaitsAnswer): awaitsAnswer
      case .exchanging(let exchange): exchange.awaitsAnswer
      }
    }
    set {
      switch state {
      case .asked: break
      case .lacking: state = .lacking(awaitsAnswer: newValue)
      case .exchanging: exchange?.awaitsAnswer = newValue
      }
    }
  }

  /// The state of the exchange; nil while there is none, and then setting it has no effect.
  var exchange: Exchange? {
    get { if case .exchanging(let exchange) = state { exchange } else { nil } }
    set { if let newValue, case .exchanging = state { state = .exchanging(newValue) } }
  }

  /// The peer has sent something about the document. Keeps the state of an exchange that has begun.
  mutating func beginExchange(awaitsAnswer: Bool) {
    var exchange = exchange ?? Exchange()
    exchange.awaitsAnswer = awaitsAnswer
    state = .exchanging(exchange)
  }

  /// Messages of the peer were not taken, which counts their changes as sent.
  mutating func missed(isNew: Bool, isFound: Bool) {
    if isFound || (isExchanging && !isNew) {
      shared.askAgain()
      beginExchange(awaitsAnswer: true)
      exchange?.lastEmpty = nil
    } else if isNew || isLacking {
      // The search's result is the answer.
      state = .lacking(awaitsAnswer: true)
    }
  }

  /// Restarts the sync if the peer's heads differ from ours and neither have changed since the last check: a message must
  /// have been lost, so that the two wait for each other or repeat themselves. Keeps only what was certainly shared, so
  /// that everything else is asked for again. The intervals grow, because a large document on a slow network looks the
  /// same.
  ///
  /// - Returns: whether the sync was restarted
  mutating func restartIfStalled(ours: Set<ChangeHash>) -> Bool {
    guard let exchange, heads != ours else {
      self.exchange?.difference = nil
      return false
    }
    var difference = exchange.difference ?? SyncDifference(ours: ours, theirs: heads)
    if difference.ours != ours || difference.theirs != heads { difference = SyncDifference(ours: ours, theirs: heads) }
    let count = difference.checkCount
    difference.checkCount += 1
    self.exchange?.difference = difference
    // After 1, 2, 4, 8 … checks.
    guard count > 0, count & (count - 1) == 0 else { return false }
    restart()
    self.exchange?.lastEmpty = nil
    return true
  }

  /// Forgets what was only assumed to be shared, so that everything else is asked for again.
  mutating func restart() { begin(with: shared.encode()) }

  /// Forgets everything that was shared.
  mutating func forget() { begin(with: nil) }

  private mutating func begin(with encoded: Data?) {
    let former = shared
    shared = Self.shared(encoded, access)
    shared.succeed(former)
  }

  /// The state of the sync with a peer. With read access, the peer is told so and its changes are refused.
  static func shared(_ encoded: Data?, _ access: Access) -> SyncState {
    let state = encoded.flatMap { try? SyncState(bytes: $0) } ?? SyncState()
    state.isReadOnly = access < .write
    return state
  }
}

/// A difference between a peer's heads and ours, and for how many checks both have stayed the same.
struct SyncDifference {
  var ours: Set<ChangeHash>
  var theirs: Set<ChangeHash>?
  var checkCount = 0
}
