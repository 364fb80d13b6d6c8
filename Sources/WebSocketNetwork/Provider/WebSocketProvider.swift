import AutomergeRepo
import Logging
import PeerTransport
import UV

/// Connects peers by WebSocket in automerge-repo's protocol, version 1: stays connected to servers, and can be one.
///
/// A peer's identity is only its own claim, and the proof with which it was admitted: a token, or the address at which
/// it was called. Therefore a share policy must check `proof(of:)`, and no caller may use a reserved id, or that of a
/// connected peer that was admitted with another proof. Only one connection to each peer counts, the newer of two in
/// the same direction.
public final class WebSocketProvider: NetworkProvider {
  /// Like JavaScript's server, but patient with a program that is busy while its machine still answers.
  /// Source: `PeerProtocol.md`, "WebSocket".
  static let pace = Keepalive.Pace(pingAfter: .seconds(5), deadAfter: .seconds(15), hungAfter: .seconds(60))

  /// Whether a peer without a key may not use an id. By default, ids that belong to a key are reserved; a program whose
  /// peers have keys, but prove none over WebSocket, reserves the ids of the peers it knows.
  public var isReserved: @AutomergeRepo (PeerId) -> Bool = { Identity.fingerprint(of: $0) != nil }
  /// Called when the connection to a server that is kept changes.
  public var onServerChange: (@AutomergeRepo (WebSocketURL, WebSocketServerState) -> Void)? {
    get { servers.onChange }
    set { servers.onChange = newValue }
  }

  let loop: Loop
  package let clock: any RepoClock
  let logger: Logger
  var random: RandomSource
  let links: LinkTable
  let servers: WantedServers
  /// For calls to `wss`; made at the first one.
  var callerTLS: WebTLSContext?
  let authorityFile: String?
  var listener: WebSocketListener?
  var limits = WebSocketLimits()
  /// The calls that outgoing links have come from.
  var calls: [ObjectIdentifier: WantedServers.Call] = [:]
  private weak var delegate: (any NetworkDelegate)?
  /// Nil until started and after stopping.
  private(set) var local: LocalPeer?

  /// - Parameters:
  ///   - authorityFile: certificates of the authorities to trust for `wss`, in PEM; nil for those that the system trusts.
  ///   - retryCount: how many times a server is called again before it is given up; nil for no limit
  public nonisolated init(
    loop: Loop, clock: any RepoClock, authorityFile: String? = nil, retryCount: Int? = nil,
    random: RandomSource = RandomSource(), logger: Logger = Logger(label: "websocket")
  ) {
    (self.loop, self.clock, self.random, self.logger) = (loop, clock, random, logger)
    (self.authorityFile, links) = (authorityFile, LinkTable(clock: LoopClock(loop)))
    servers = WantedServers(clock: clock, random: random, maximumRetryCount: retryCount)
  }

  /// Makes a provider on the process's shared loop, for programs without their own.
  ///
  /// - Parameter authorityFile: certificates of the authorities to trust for `wss`, in PEM; nil for those that the system trusts.
  public convenience init(
    authorityFile: String? = nil, logger: Logger = Logger(label: "websocket")
  ) async throws(UVError) {
    let loop = try await AutomergeRepo.sharedLoop()
    self.init(loop: loop, clock: LoopClock(loop), authorityFile: authorityFile, logger: logger)
  }

  /// Makes a provider on the shared loop outside of any task, as a global constant needs. The provider's first call to a server
  /// moves the actor to the loop.
  public nonisolated convenience init(_ configuration: WebSocketProviderConfiguration) throws(UVError) {
    let loop = try Loop.shared()
    self.init(
      loop: loop, clock: LoopClock(loop), authorityFile: configuration.authorityFile,
      retryCount: configuration.retryCount, logger: configuration.logger)
  }

  // MARK: Provider

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    (self.local, self.delegate) = (local, delegate)
    servers.onDial = { [weak self] call, token in self?.dial(call, token: token) }
  }

  public func stop() {
    guard let local else { return }
    servers.removeAll()
    stopListening()
    for link in links.all {
      if link.peer != nil { link.send(.leave(senderId: local.peerId)) }
      link.close(.stopped)
    }
    self.local = nil
  }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    guard let link = links[peer] else { return }
    if !link.send(message) { logger.error("\(peer) \(Frame.tooLongToSend)") }
  }

  /// Says goodbye and closes. A server that is kept is called again after a while; `forget` it first to prevent that.
  public func disconnect(_ peer: PeerId) {
    guard let local, let link = links[peer] else { return }
    link.send(.leave(senderId: local.peerId))
    link.close(.stopped)
  }

  public func setReading(_ reads: Bool, from peer: PeerId) { links[peer]?.isHeld = !reads }

  /// Sets how we introduce ourselves to peers that connect from now on.
  public func update(_ metadata: PeerMetadata) { local?.metadata = metadata }

  // MARK: Peers

  /// The proof with which a connected peer was admitted; nil if it is not connected.
  public func proof(of peer: PeerId) -> PeerProof? { links[peer]?.proof }

  public func isConnected(_ peer: PeerId) -> Bool { links[peer]?.isOpen == true }

  /// The number of connections of any kind, including those of callers that have not introduced themselves.
  public var connectionCount: Int { links.count }

  /// Breaks a connection, as a lost network does. For tests.
  package func breakConnection(to peer: PeerId) { links[peer]?.close(.lost(reason: "broken off"), politely: false) }

  // MARK: Links

  /// Adds a link, which is still to be opened.
  func add(
    _ channel: any ByteChannel, _ address: PeerAddress, as role: WebSocketTransport.Role, _ local: LocalPeer
  ) -> PeerLink {
    let transport = WebSocketTransport(channel, as: role, random: random) { [logger] in
      logger.warning("\(address) sends text messages, which are ignored")
    }
    let handshake: PeerHandshake.Role = if case .caller = role { .dialer(expecting: nil) } else { .listener }
    let link = PeerLink(
      transport, as: handshake, local: local, clock: clock, budgets: links.budgets, pace: Self.pace,
      permits: { [weak self] proof, peer in
        AutomergeRepo.assumeIsolated { self?.permits(proof, peer) ?? false }
      },
      onEvent: { [weak self] link, event in self?.handle(event, of: link) })
    links.add(link, at: address, for: nil)
    return link
  }

  /// Whether a connection that was admitted with this proof may belong to this peer.
  private func permits(_ proof: PeerProof, _ peer: PeerId) -> Bool {
    switch proof {
    case .key, .sameUser: return proof.permits(peer)
    case .token, .address: if isReserved(peer) { return false }
    }
    guard let old = links[peer], old.isOpen, old.direction == .incoming, case .token = proof else { return true }
    return old.proof == proof
  }

  private func handle(_ event: PeerLink.Event, of link: PeerLink) {
    switch event {
    case .proven, .stalled: break
    case .established(let peer, let metadata): established(link, peer, metadata)
    case .received(let message):
      guard let peer = link.peer, links.isCurrent(link) else { return }
      delegate?.network(self, received: message, from: peer)
    case .crowded(let isCrowded):
      guard let peer = link.peer, links.isCurrent(link) else { return }
      delegate?.network(self, peer, isCrowded: isCrowded)
    case .closed(let reason): closed(link, reason)
    }
  }

  private func established(_ link: PeerLink, _ peer: PeerId, _ metadata: PeerMetadata) {
    guard let local else { return link.close(.stopped) }
    if let call = calls[ObjectIdentifier(link)] { servers.answered(call, as: peer) }
    if let old = links[peer] {
      guard !old.isOpen || replaces(link, old, local, peer) else {
        return link.close(.lost(reason: "the same peer is connected already"))
      }
      links.setCurrent(nil, for: peer)
      old.close(.stopped)
      delegate?.network(self, disconnected: peer)
    }
    links.setCurrent(link, for: peer)
    // The peer was admitted, or we have called it.
    link.isTrusted = true
    logger.debug("connected to \(peer) at \(links.entry(of: link)?.address.description ?? "")")
    delegate?.network(self, connected: peer, metadata: metadata)
    if let call = calls[ObjectIdentifier(link)] { servers.connected(call, to: peer) }
  }

  /// Whether a new connection to a peer replaces the old.
  private func replaces(_ link: PeerLink, _ old: PeerLink, _ local: LocalPeer, _ peer: PeerId) -> Bool {
    switch (link.direction, old.direction) {
    // A server that is called a second time assumes that the older connection is useless.
    case (.incoming, .incoming): true
    // The caller knows it, unless this is another server, which only claims the id.
    case (.outgoing, .outgoing):
      calls[ObjectIdentifier(link)].map { call in
        call.url == calls[ObjectIdentifier(old)]?.url || call.url == servers.first(claiming: peer)
      } ?? true
    case (.incoming, .outgoing), (.outgoing, .incoming):
      LinkDirection.newStays(local: local.peerId, peer: peer, old: old.direction, new: link.direction)
    }
  }

  func closed(_ link: PeerLink, _ reason: LinkError) {
    // A connection that made room for another is removed before it has closed.
    guard let entry = links.remove(link) else { return }
    let error = PeerNetworkError(reason, at: entry.address)
    defer { if let call = calls.removeValue(forKey: ObjectIdentifier(link)) { ended(call, error) } }
    guard let peer = link.peer, links.isCurrent(link) else { return }
    links.setCurrent(nil, for: peer)
    logger.debug("lost \(peer): \(error)")
    delegate?.network(self, disconnected: peer)
  }
}
