import AutomergeRepo
import PeerTransport

/// The servers to stay connected to: when to call each again, and the state of each.
@AutomergeRepo
final class WantedServers {
  /// A call of a server, and the connection that it leads to.
  struct Call: Hashable {
    let url: WebSocketURL
    fileprivate let number: Int
  }

  private struct Server {
    let token: String?
    /// Its calls that have not ended, and of these the connection that counts. What an earlier token's calls lead to
    /// counts for nothing.
    var calls: Set<Call> = []
    var current: Call?
    /// Whether connections that were made with an earlier token have still to end.
    var isHeld = false
    var reconnect = Reconnect(isServer: true)
    var timer: (any ScheduledAction)?
    var state = WebSocketServerState.connecting
    /// The peer that answered last, and since which answer of all servers it has been this one.
    var peer: PeerId?
    var claimNumber = 0
    /// Calls that failed, and connections that ended, since it was last connected.
    var failureCount = 0
    /// Whether it is not called any more, because its retries are used up.
    var isGivenUp = false
  }

  /// Calls a server. Answer with `connected` or `ended`.
  var onDial: (@AutomergeRepo (Call, _ token: String?) -> Void)?
  var onChange: (@AutomergeRepo (WebSocketURL, WebSocketServerState) -> Void)?
  private let maximumRetryCount: Int?
  private let clock: any RepoClock
  private var random: RandomSource
  private var callCount = 0
  private var claimCount = 0
  private var servers: [WebSocketURL: Server] = [:] {
    didSet { latest.set(states) }
  }
  private let latest = LatestValues<[WebSocketURL: WebSocketServerState]>([:])

  /// - Parameter maximumRetryCount: how many times a server is called again before it is given up; nil for no limit
  nonisolated init(clock: any RepoClock, random: RandomSource, maximumRetryCount: Int? = nil) {
    (self.clock, self.random, self.maximumRetryCount) = (clock, random, maximumRetryCount)
  }

  var states: [WebSocketURL: WebSocketServerState] { servers.mapValues(\.state) }

  /// The current states, then the new ones after each change.
  func stateUpdates() -> AsyncStream<[WebSocketURL: WebSocketServerState]> { latest.updates() }

  /// Whether `insert` would change anything.
  func isNews(_ url: WebSocketURL, token: String?) -> Bool {
    guard let server = servers[url] else { return true }
    return server.token != token || server.isGivenUp
  }

  /// Stays connected to a server from now on.
  ///
  /// - Parameter isHeld: whether it is called only after `release`, because a server refuses another token while it is
  ///   connected
  func insert(_ url: WebSocketURL, token: String?, isHeld: Bool = false) {
    guard isNews(url, token: token) else { return }
    tell(url, .unwanted)
    let old = servers[url]
    servers[url] = Server(
      token: token, isHeld: isHeld, state: old?.state ?? .connecting, peer: old?.peer,
      claimNumber: old?.claimNumber ?? 0)
    set(.connecting, url)
    if !isHeld { tell(url, .wanted) }
  }

  /// Call when all connections to a server have ended.
  func release(_ url: WebSocketURL) {
    guard servers[url]?.isHeld == true else { return }
    servers[url]?.isHeld = false
    tell(url, .wanted)
  }

  func remove(_ url: WebSocketURL) {
    tell(url, .unwanted)
    servers[url] = nil
  }

  func removeAll() { for url in servers.keys { remove(url) } }

  /// Whether the call's server is still wanted, with the same token.
  func isWanted(_ call: Call) -> Bool { servers[call.url]?.calls.contains(call) == true }

  /// Call when a server has introduced itself. It can claim any id.
  func answered(_ call: Call, as peer: PeerId) {
    guard isWanted(call), servers[call.url]?.peer != peer else { return }
    claimCount += 1
    servers[call.url]?.peer = peer
    servers[call.url]?.claimNumber = claimCount
  }

  /// Of the servers whose last answer claimed this id, the one that has claimed it for longest.
  func first(claiming peer: PeerId) -> WebSocketURL? {
    servers.filter { $0.value.peer == peer }.min { $0.value.claimNumber < $1.value.claimNumber }?.key
  }

  func connected(_ call: Call, to peer: PeerId) {
    guard isWanted(call) else { return }
    answered(call, as: peer)
    let url = call.url
    servers[url]?.current = call
    servers[url]?.failureCount = 0
    servers[url]?.isGivenUp = false
    set(.connected(peer), url)
    tell(url, .connected)
  }

  /// Call when a call has failed, or its connection has ended.
  func ended(_ call: Call, _ error: PeerNetworkError) {
    let url = call.url
    guard servers[url]?.calls.remove(call) != nil else { return }
    switch servers[url]?.current {
    case call:
      servers[url]?.current = nil
      set(.waiting(error), url)
      tell(url, .lost)
    case nil:
      set(.waiting(error), url)
      tell(url, .failed)
    // Another call has led to a connection meanwhile.
    case _?: return
    }
    servers[url]?.failureCount += 1
    guard let maximumRetryCount, let server = servers[url], server.failureCount > maximumRetryCount else { return }
    servers[url]?.isGivenUp = true
    tell(url, .unwanted)
  }

  /// The peer that answered last; nil if none has.
  func peer(at url: WebSocketURL) -> PeerId? { servers[url]?.peer }

  /// The network may be back: calls all waiting servers at once.
  func networkImproved() { for url in servers.keys { tell(url, .found) } }

  private func set(_ state: WebSocketServerState, _ url: WebSocketURL) {
    guard let old = servers[url]?.state, old != state else { return }
    servers[url]?.state = state
    onChange?(url, state)
  }

  private func tell(_ url: WebSocketURL, _ event: Reconnect.Event) {
    guard servers[url] != nil else { return }
    let jitter = Double.random(in: 0...1, using: &random)
    for effect in servers[url]?.reconnect.receive(event, jitter: jitter, at: clock.now) ?? [] {
      switch effect {
      case .dial: dial(url)
      case .startTimer(let pause):
        servers[url]?.timer = clock.schedule(after: pause) { [weak self] in self?.tell(url, .timerFired) }
      case .cancelTimer: servers[url]?.timer?.cancel()
      }
    }
  }

  private func dial(_ url: WebSocketURL) {
    callCount += 1
    let call = Call(url: url, number: callCount)
    servers[url]?.calls.insert(call)
    onDial?(call, servers[url]?.token)
  }
}
