import AutomergeRepo
import PeerTransport

/// The servers to stay connected to: when to call each again, and the state of each.
@AutomergeRepo
final class WantedServers {
  private struct Server {
    let token: String?
    var reconnect = Reconnect(isServer: true)
    var timer: (any ScheduledAction)?
    var state = WebSocketServerState.connecting
    /// The peer that answered last.
    var peer: PeerId?
    /// Calls that failed, and connections that ended, since it was last connected.
    var failureCount = 0
    /// Whether it is not called any more, because its retries are used up.
    var isGivenUp = false
  }

  /// Calls a server. Answer with `connected` or `ended`.
  var onDial: (@AutomergeRepo (WebSocketURL, _ token: String?) -> Void)?
  var onChange: (@AutomergeRepo (WebSocketURL, WebSocketServerState) -> Void)?
  private let maximumRetryCount: Int?
  private let clock: any RepoClock
  private var random: RandomSource
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

  /// Stays connected to a server from now on. A new token takes effect at the next call.
  func insert(_ url: WebSocketURL, token: String?) {
    if let old = servers[url], old.token == token, !old.isGivenUp { return }
    remove(url)
    servers[url] = Server(token: token)
    tell(url, .wanted)
  }

  func remove(_ url: WebSocketURL) {
    tell(url, .unwanted)
    servers[url] = nil
  }

  func removeAll() { for url in servers.keys { remove(url) } }

  func connected(_ url: WebSocketURL, to peer: PeerId) {
    servers[url]?.peer = peer
    servers[url]?.failureCount = 0
    servers[url]?.isGivenUp = false
    set(.connected(peer), url)
    tell(url, .connected)
  }

  /// Call when a call has failed, or a connection has ended.
  func ended(_ url: WebSocketURL, _ error: PeerNetworkError) {
    set(.waiting(error), url)
    // Only one of the two fits the state; the other has no effect.
    tell(url, .lost)
    tell(url, .failed)
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
      case .dial: onDial?(url, servers[url]?.token)
      case .startTimer(let pause):
        servers[url]?.timer = clock.schedule(after: pause) { [weak self] in self?.tell(url, .timerFired) }
      case .cancelTimer: servers[url]?.timer?.cancel()
      }
    }
  }
}
