import AutomergeRepo
import Logging
import PeerTransport
import UV

/// Peers over encrypted TCP: listens, calls, keeps wanted peers connected, and keeps at most one connection to each.
///
/// A peer is identified by the key that it proves: the peer id is the key's fingerprint. Without `listen`, the provider
/// only calls.
public final class TCPProvider: NetworkProvider {
  /// Source: PeerProtocol.md, "Links".
  public static let maximumConnections = 128

  typealias Attempt = LinkAttempt

  let clock: any RepoClock
  let logger: Logger
  var connectTimeout = PeerHandshake.timeout
  /// Two calls that cross do so within this time. A later call beside an old connection means that the connection has
  /// stalled. Only for peers that do not mark their calls.
  var crossingTime: Duration = .seconds(3)
  var policy = LinkPolicy()
  let endpoint: TLSEndpoint
  let links: LinkTable
  let wanted: WantedPeers
  var redials = Redials()
  private var calls: CallMarks
  /// Nil until started and after stopping.
  private(set) var local: LocalPeer?
  /// How many messages were sent to peers since the start, not counting pings.
  public private(set) var sentCount = 0
  private weak var delegate: (any NetworkDelegate)?
  private lazy var expiry = StrangerExpiry(
    clock: clock, strangers: { [weak self] in self?.strangers ?? [] },
    close: { [weak self] in self?.links.link($0)?.close(.stopped) })

  public init(
    loop: Loop, clock: any RepoClock, identity: Identity, random: RandomSource = RandomSource(),
    logger: Logger = Logger(label: "peers")
  ) throws(TLSError) {
    endpoint = try TLSEndpoint(loop: loop, identity: identity)
    (links, wanted) = (LinkTable(clock: LoopClock(loop)), WantedPeers(clock: clock, random: random))
    (self.clock, self.logger) = (clock, logger)
    var random = random
    calls = CallMarks(run: random.next())
    wanted.onDial = { [weak self] peer, addresses in self?.dial(peer, at: addresses) }
  }

  var loop: Loop { endpoint.loop }

  // MARK: Provider

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    precondition(local.peerId == endpoint.peerId, "a peer is called what its key says")
    (self.local, self.delegate) = (local, delegate)
  }

  public func stop() {
    guard let local else { return }
    for peer in wanted.all { forget(peer) }
    endpoint.stopListening()
    expiry.stop()
    for link in links.all {
      if link.peer != nil { link.send(.leave(senderId: local.peerId)) }
      link.close(.stopped)
    }
    self.local = nil
  }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    guard let link = links[peer] else { return }
    sentCount += 1
    if !link.send(message) { logger.error("\(peer) \(Frame.tooLongToSend)") }
  }

  /// Says goodbye and closes. A wanted peer is called again after a while; `forget` it first to prevent that.
  public func disconnect(_ peer: PeerId) {
    guard let local, let link = links[peer] else { return }
    link.send(.leave(senderId: local.peerId))
    link.close(.stopped)
  }

  public func proof(of peer: PeerId) -> PeerProof? { links[peer]?.proof }

  public func setReading(_ reads: Bool, from peer: PeerId) { links[peer]?.isHeld = !reads }

  /// Sets how we introduce ourselves to peers that connect from now on.
  public func update(_ metadata: PeerMetadata) { local?.metadata = metadata }

  /// Admits peers that no person has met: those for which this is true may send long messages, like known ones.
  public func admit(_ isAdmitted: @escaping @AutomergeRepo (PeerId) -> Bool) { policy.isAdmitted = isAdmitted }

  // MARK: Listening

  /// The address we listen on; nil if we do not.
  public var listening: PeerAddress? { endpoint.listening }

  /// The addresses where peers may reach us, likeliest first, `Ticket.maximumAddresses` at most.
  public var reachableAddresses: [PeerAddress] { endpoint.reachableAddresses }

  /// Accepts connections from now on, at one address or, for host `*`, at all. Port 0 picks a free one.
  /// - Returns: the address.
  @discardableResult
  public func listen(at address: PeerAddress) throws(PeerNetworkError) -> PeerAddress {
    guard local != nil else { throw .stopped }
    return try endpoint.listen(at: address) { [weak self] transport, caller in
      if let self { self.accept(transport, from: caller) } else { transport.close() }
    }
  }

  private func accept(_ transport: TLSTransport, from caller: PeerAddress) {
    guard let local else { return transport.close() }
    if let evicted = StrangerLinks.evicted(for: caller.host, among: strangers), let link = links.link(evicted) {
      link.close(.tooManyConnections, politely: false)
      closed(link, .tooManyConnections)
    }
    guard links.count < Self.maximumConnections else { return transport.close() }
    add(transport, caller, .listener, local).open()
    expiry.schedule()
  }

  private var strangers: [StrangerLinks.Link] { links.strangers(isAwaited: policy.isAwaited) }

  // MARK: Links

  /// Adds a link, which is still to be opened.
  func add(
    _ transport: any Transport, _ address: PeerAddress, _ role: PeerHandshake.Role, _ local: LocalPeer,
    for attempt: Attempt? = nil
  ) -> PeerLink {
    var local = local
    local.metadata.addresses = reachableAddresses.map(\.description)
    local.metadata.call = calls.answer
    let link = PeerLink(
      transport, as: role, local: local, clock: clock, budgets: links.budgets,
      onEvent: { [weak self] link, event in self?.handle(event, of: link) })
    links.add(link, at: address, for: attempt)
    return link
  }

  private func handle(_ event: PeerLink.Event, of link: PeerLink) {
    switch event {
    case .proven(let proof):
      if let peer = proof.peer { proven(link, peer) }
    case .established(let peer, let metadata): established(link, peer, metadata)
    case .received(let message):
      guard let peer = link.peer, links.isCurrent(link) else { return }
      delegate?.network(self, received: message, from: peer)
    case .crowded(let isCrowded):
      guard let peer = link.peer, links.isCurrent(link) else { return }
      delegate?.network(self, peer, isCrowded: isCrowded)
    case .stalled: redial(link)
    case .closed(let reason): closed(link, reason)
    }
  }

  /// The other end has proven to be this peer, and waits for our introduction if we have called.
  private func proven(_ link: PeerLink, _ peer: PeerId) {
    if policy.isBlocked(peer) { return link.close(.stopped, politely: false) }
    guard link.direction == .outgoing else { return }
    // Another call to the peer has succeeded first.
    if link.expectedPeer == peer, isConnected(peer), !redials.isUnderWay(to: peer) {
      links.takeAttempt(of: link)?(.success(peer))
      return link.close(.stopped)
    }
    calls.saw(links[peer]?.rank, of: peer)
    link.mark(calls.next(to: peer))
  }

  private func established(_ link: PeerLink, _ peer: PeerId, _ metadata: PeerMetadata) {
    // This person may have blocked the peer since it proved its key.
    guard let local, !policy.isBlocked(peer) else { return link.close(.stopped, politely: false) }
    guard links[peer] != nil || makesRoom(for: peer) else { return link.close(.tooManyConnections, politely: false) }
    let attempt = links.takeAttempt(of: link)
    defer { attempt?(.success(peer)) }
    if let old = links[peer] {
      guard !old.isOpen || replaces(link, old, local, peer) else { return link.close(.stopped) }
      links.setCurrent(nil, for: peer)
      old.close(.stopped)
      delegate?.network(self, disconnected: peer)
    }
    links.setCurrent(link, for: peer)
    redials.end(peer)
    link.isTrusted = policy.isKnown(peer) || policy.isAdmitted(peer) || wanted.contains(peer)
    if link.isTrusted || link.direction == .outgoing { calls.saw(link.rank, of: peer) }
    logger.debug("connected to \(peer) at \(links.entry(of: link)?.address.description ?? "")")
    wanted.tell(peer, .connected)
    var metadata = metadata
    metadata.call = nil
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  /// Whether there is a place for a peer: another one that was only introduced may have to leave.
  private func makesRoom(for peer: PeerId) -> Bool {
    let peers = links.ofPeers
    guard peers.count >= IntroducedLinks.maximumCount, !policy.isAwaited(peer), let host = policy.introducer(peer)
    else {
      return true
    }
    let introduced = peers.compactMap { link -> IntroducedLinks.Link? in
      guard let peer = link.peer, !policy.isAwaited(peer), let host = policy.introducer(peer) else { return nil }
      return IntroducedLinks.Link(peer: peer, host: host, openedAt: link.openedAt)
    }
    switch IntroducedLinks.place(for: host, among: introduced) {
    case .free: return true
    case .takenFrom(let other):
      disconnect(other)
      return true
    case .none: return false
    }
  }

  /// Whether a new link to a peer takes the place of the old one, as the other end decides, too.
  private func replaces(_ link: PeerLink, _ old: PeerLink, _ local: LocalPeer, _ peer: PeerId) -> Bool {
    if let new = link.rank, let old = old.rank { return new.replaces(old) }
    return clock.now - old.openedAt > crossingTime
      || LinkDirection.newStays(local: local.peerId, peer: peer, old: old.direction, new: link.direction)
  }

  private func closed(_ link: PeerLink, _ reason: LinkError) {
    // A link that made room for another is removed before it has closed.
    guard let entry = links.remove(link) else { return }
    entry.attempt?(.failure(PeerNetworkError(reason, at: entry.address)))
    guard let peer = link.peer, links.isCurrent(link) else { return }
    links.setCurrent(nil, for: peer)
    wanted.lost(peer, at: entry.address.host)
    redials.end(peer)
    logger.debug("lost \(peer): \(PeerNetworkError(reason, at: entry.address))")
    delegate?.network(self, disconnected: peer)
    wanted.tell(peer, .lost)
  }

  /// Lets a connected peer send long messages from now on.
  func trust(_ peer: PeerId) {
    guard let link = links[peer] else { return }
    link.isTrusted = true
    calls.saw(link.rank, of: peer)
  }
}
