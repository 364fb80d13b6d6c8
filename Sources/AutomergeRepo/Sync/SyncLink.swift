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
  /// What is shared with it. Of an earlier connection only what was surely shared survives.
  var shared: SyncState
  var state = State.exchanging(Exchange())
  var outlet = Outlet.open
  /// Its last heads; nil if it has told none.
  var heads: Set<ChangeHash>?
  /// How often it has asked for everything since the last check.
  var wholeCount = 0

  enum State {
    /// We have asked it for the document, and it has not answered. Only during a search.
    case asked
    /// It has told us that it lacks the document, and hears nothing more of it; but an answer is due if it has asked us, too.
    case lacking(awaitsAnswer: Bool)
    /// It is told of changes. During a search, it has begun to send the document.
    case exchanging(Exchange)
  }

  /// The course of an exchange.
  struct Exchange {
    /// It asked, and has had no answer.
    var awaitsAnswer = false
    /// The last check's finding; nil if the heads were equal.
    var difference: SyncDifference?
    /// Its last changes were unusable.
    var hasUnusable = false
    /// The last message without changes that we sent it while it brought changes that we refuse.
    var lastEmpty: Data?
  }

  /// What it has answered to a search.
  var answer: FindProgress.Answer {
    switch state {
    case .asked: .asked
    case .lacking: .lacks
    case .exchanging: .sends
    }
  }

  /// Whether the peer can be sent something now.
  enum Outlet {
    case open
    /// It has not been told of the last changes yet; the peer with the lowest number has waited longest.
    case waiting(Int)
    /// Much waits on the connection; the peer is told nothing new.
    case crowded
  }

  init(to peer: PeerId, access: Access, shared: SyncState) {
    (self.peer, self.access, self.shared) = (peer, access, shared)
  }

  var isLacking: Bool { if case .lacking = state { true } else { false } }

  var isExchanging: Bool { if case .exchanging = state { true } else { false } }

  var isCrowded: Bool { if case .crowded = outlet { true } else { false } }

  /// The number under which it waits for its turn; nil if it does not.
  var turn: Int? { if case .waiting(let number) = outlet { number } else { nil } }

  /// It asked, and has had no answer.
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

  /// The course of the exchange; nil while there is none, and then setting it does nothing.
  var exchange: Exchange? {
    get { if case .exchanging(let exchange) = state { exchange } else { nil } }
    set { if let newValue, case .exchanging = state { state = .exchanging(newValue) } }
  }

  /// The peer has spoken of the document. Keeps the course of an exchange that is under way.
  mutating func beginExchange(awaitsAnswer: Bool) {
    var exchange = exchange ?? Exchange()
    exchange.awaitsAnswer = awaitsAnswer
    state = .exchanging(exchange)
  }

  /// Forgets what was only believed to be shared, so that everything else is asked for again.
  mutating func restart() { shared = Self.shared(shared.encode(), access) }

  /// Forgets everything that was shared.
  mutating func forget() { shared = Self.shared(nil, access) }

  /// A peer with read access is told so, and its changes are refused.
  static func shared(_ encoded: Data?, _ access: Access) -> SyncState {
    let state = encoded.flatMap { try? SyncState(bytes: $0) } ?? SyncState()
    state.isReadOnly = access < .write
    return state
  }
}

/// A peer's heads differ from ours; and for how many checks these have stayed the same.
struct SyncDifference {
  var ours: Set<ChangeHash>
  var theirs: Set<ChangeHash>?
  var checkCount = 0
}
