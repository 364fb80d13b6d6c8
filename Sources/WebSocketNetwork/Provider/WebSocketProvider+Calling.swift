import AutomergeRepo
import Foundation
import PeerTransport
import UV

extension WebSocketProvider {
  /// Stays connected to a server: calls it, and calls it again after increasing pauses of at most half a minute, until
  /// `forget` or `stop`. With another token than before, ends the connection first.
  ///
  /// - Parameter token: sent as `Authorization: Bearer …`. Over `ws`, every machine on the way can read it.
  public func connect(to url: WebSocketURL, token: String? = nil) {
    guard local != nil, servers.isNews(url, token: token) else { return }
    leave(url)
    // A server that still has us connected would refuse the other token.
    servers.insert(url, token: token, isHeld: isLinked(to: url))
  }

  /// Calls a server, and returns when it has introduced itself. From then on stays connected, as the configuration
  /// says.
  ///
  /// - Parameter token: see the other `connect`.
  /// - Returns: the server's id.
  /// - Throws: the error of a failed call, after which the server is not called again; `stopped` if the provider has
  ///   not been added to a repo
  @discardableResult
  public func connect(to url: URL, token: String? = nil) async throws(PeerNetworkError) -> PeerId {
    guard let server = WebSocketURL(url.absoluteString) else { throw .badURL(url.absoluteString) }
    await comeToLoop()
    guard local != nil else { throw .stopped }
    if serverStates[server]?.error != nil { forget(server) }
    connect(to: server, token: token)
    for await states in servers.stateUpdates() {
      switch states[server] {
      case .connecting: continue
      case .connected(let peer): return peer
      case .waiting(let error):
        forget(server)
        throw error
      case nil: throw .stopped
      }
    }
    throw .stopped
  }

  /// Ends the connection to a server, and calls it no more.
  public func forget(_ url: WebSocketURL) {
    servers.remove(url)
    leave(url)
  }

  /// Ends the connections to a server.
  private func leave(_ url: WebSocketURL) {
    guard let local else { return }
    for link in links.all where calls[ObjectIdentifier(link)]?.url == url {
      if link.peer != nil { link.send(.leave(senderId: local.peerId)) }
      link.close(.stopped)
    }
  }

  private func isLinked(to url: WebSocketURL) -> Bool { calls.values.contains { $0.url == url } }

  /// Call when a call's link has closed.
  func ended(_ call: WantedServers.Call, _ error: PeerNetworkError) {
    servers.ended(call, error)
    if !isLinked(to: call.url) { servers.release(call.url) }
  }

  /// Ends the connections to all servers, and calls them no more.
  public func disconnect() {
    for url in servers.states.keys { forget(url) }
  }

  /// The servers to stay connected to, with the state of each.
  public var serverStates: [WebSocketURL: WebSocketServerState] { servers.states }

  /// The current states, then the new ones after each change. A slow reader misses states in between, but never the last.
  public func serverStateUpdates() -> AsyncStream<[WebSocketURL: WebSocketServerState]> { servers.stateUpdates() }

  /// The network may be back: calls every waiting server at once, and pings the others.
  public func networkImproved() {
    for link in links.ofPeers where link.direction == .outgoing { link.probe() }
    servers.networkImproved()
  }

  /// Moves the actor to the loop, where it may not be yet if the provider was made outside of any task.
  private func comeToLoop() async {
    if !loop.isOnLoop { _ = try? await AutomergeRepo.sharedLoop() }
  }

  func dial(_ call: WantedServers.Call, token: String?) {
    let url = call.url
    guard loop.isOnLoop else {
      Task {
        await comeToLoop()
        if loop.isOnLoop, servers.isWanted(call) { dial(call, token: token) }
      }
      return
    }
    let address = PeerAddress(host: url.host, port: url.port)
    if isServed(url) {
      return servers.ended(call, .unreachable(address, reason: "the peer there is connected already"))
    }
    TCPStream.connect(on: loop, host: url.host, port: url.port, timeout: PeerHandshake.timeout) { [weak self] result in
      nonisolated(unsafe) let result = result
      AutomergeRepo.assumeIsolated {
        switch result {
        case .success(let stream): self?.called(stream, call, token: token) ?? stream.close()
        case .failure(let error):
          self?.servers.ended(
            call, error.isSilence ? .noAnswer(address, reason: "\(error)") : .unreachable(address, reason: "\(error)"))
        }
      }
    }
  }

  /// Whether the server of an address is already connected at another one. It would close that connection for a new one, and
  /// we would call it there again. Another server may only claim its id: the address that claimed an id first gets it back.
  private func isServed(_ url: WebSocketURL) -> Bool {
    guard let peer = servers.peer(at: url), let link = links[peer], link.isOpen else { return false }
    guard let other = calls[ObjectIdentifier(link)]?.url, other != url else { return true }
    return servers.first(claiming: peer) != url
  }

  private func called(_ stream: TCPStream, _ call: WantedServers.Call, token: String?) {
    let url = call.url
    let address = PeerAddress(host: url.host, port: url.port)
    do throws(PeerNetworkError) {
      guard let local else { throw .stopped }
      guard servers.isWanted(call) else { return stream.close() }
      guard links.count < limits.maximumCount else { throw .tooManyConnections }
      let channel: any ByteChannel = url.isSecure ? TLSChannel(stream, try session(for: url)) : TCPChannel(stream)
      let upgrade = ClientUpgrade(url, token: token, random: &random)
      let link = add(channel, address, as: .caller(upgrade), local)
      calls[ObjectIdentifier(link)] = call
      link.open()
    } catch {
      stream.close()
      servers.ended(call, error)
    }
  }

  private func session(for url: WebSocketURL) throws(PeerNetworkError) -> TLSSession {
    do throws(TLSError) {
      if let callerTLS { return try TLSSession(callerTLS, host: url.host) }
      let context = try WebTLSContext(authorityFile: authorityFile)
      callerTLS = context
      return try TLSSession(context, host: url.host)
    } catch {
      throw .insecure(error)
    }
  }
}
