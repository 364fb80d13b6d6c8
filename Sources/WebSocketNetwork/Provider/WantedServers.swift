import AutomergeRepo
import PeerTransport

/// The servers to keep connected: when each is called again, and how things stand.
@AutomergeRepo
final class WantedServers {
  private struct Server {
    let token: String?
    var reconnect = Reconnect(isServer: true)
    var timer: (any ScheduledAction)?
    var state = WebSocketServerState.connecting
    /// The peer that answered last.
    var peer: PeerId?
  }

  /// Calls a server. To be answered with `connected` or `ended`.
  var onDial: (@AutomergeRepo (WebSocketURL, _ token: String?) -> Void)?
  var onChange: (@AutomergeRepo (WebSocketURL, WebSocketServerState) -> Void)?
  private let clock: any RepoClock
  private var random: RandomSource
  private var servers: [WebSocketURL: Server] = [:]

  init(clock: any RepoClock, random: RandomSource) { (self.clock, self.random) = (clock, random) }

  var states: [WebSocketURL: WebSocketServerState] { servers.mapValues(\.state) }

  /// Stays connected to a server from now on. A new token takes effect at the next call.
  func insert(_ url: WebSocketURL, token: String?) {
    if let old = servers[url], old.token == token { return }
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
    set(.connected(peer), url)
    tell(url, .connected)
  }

  /// A call has failed, or a connection has ended.
  func ended(_ url: WebSocketURL, _ error: PeerNetworkError) {
    set(.waiting(error), url)
    // Whichever of the two it was, the other means nothing then.
    tell(url, .lost)
    tell(url, .failed)
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
