import AutomergeRepo
import Logging
import UV

/// Peers over encrypted TCP: listens, calls, keeps wanted peers connected, and keeps at most one connection to each.
///
/// A peer is identified by the key that it proves: the peer id is the key's fingerprint. Without `listen` it only calls.
public final class TCPProvider: NetworkProvider {
  /// Source: PeerProtocol.md, "Links".
  public static let maximumConnections = 128
  /// The head start of each address before the next one of the same peer is called as well.
  static let dialStagger: Duration = .milliseconds(150)

  /// The time limit of a call beside a stalled connection. Further calls start meanwhile.
  static let rescueTimeout: Duration = .milliseconds(1500)

  /// The time limit of a call to a peer on a network of this machine, where an answer takes milliseconds: the kernel would
  /// retransmit only after longer and longer pauses.
  nonisolated static let nearbyTimeout: Duration = .seconds(1)

  typealias Attempt = @AutomergeRepo (Result<PeerId, PeerNetworkError>) -> Void

  let loop: Loop
  let clock: any RepoClock
  let logger: Logger
  var random: RandomSource
  var connectTimeout = PeerHandshake.timeout
  /// Two calls that cross do so within this time. A later call beside an old connection means that the connection has stalled.
  var crossingTime: Duration = .seconds(3)
  /// Whether we know a peer, so that it may send long messages.
  var isKnown: @AutomergeRepo (PeerId) -> Bool = { _ in false }
  /// Whether a peer is announced on a network of this machine.
  var isNearby: @AutomergeRepo (PeerId) -> Bool = { _ in false }
  /// Whether our person waits for an answer from a peer that may be a stranger.
  var isAwaited: @AutomergeRepo (PeerId) -> Bool = { _ in false }
  /// Whether a peer is to get no answers, as when it is blocked.
  var isBlocked: @AutomergeRepo (PeerId) -> Bool = { _ in false }
  /// Nil until started and after stopping.
  private(set) var local: LocalPeer?
  private let tls: TLSContext
  private let identity: Identity
  private weak var delegate: (any NetworkDelegate)?
  private var listener: TCPListener?
  private let share = WorkShare()
  private var expiryTimer: (any ScheduledAction)?
  private(set) lazy var unfinished = UnfinishedFrames { [weak self] in self.map { Array($0.links.values) } ?? [] }
  private(set) lazy var unsent = UnsentBytes { [weak self] in self.map { Array($0.links.values) } ?? [] }
  private var links: [ObjectIdentifier: PeerLink] = [:]
  private(set) var linkOfPeer: [PeerId: PeerLink] = [:]
  private var attempts: [ObjectIdentifier: Attempt] = [:]
  var wanted: [PeerId: WantedPeer] = [:]
  /// Connected peers that are called anew because nothing gets through.
  var rescues: [PeerId: Rescue] = [:]
  /// How many messages were sent to peers since the start, not counting pings.
  public private(set) var sentCount = 0

  public init(
    loop: Loop, clock: any RepoClock, identity: Identity, random: RandomSource = RandomSource(),
    logger: Logger = Logger(label: "peers")
  ) throws(TLSError) {
    tls = try TLSContext(identity)
    (self.loop, self.clock, self.identity, self.random, self.logger) = (loop, clock, identity, random, logger)
  }

  // MARK: Provider

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    precondition(local.peerId == identity.peerId, "a peer is called what its key says")
    (self.local, self.delegate) = (local, delegate)
  }

  public func stop() {
    guard let local else { return }
    for peer in Array(wanted.keys) { forget(peer) }
    listener?.close()
    listener = nil
    expiryTimer?.cancel()
    for link in links.values {
      if link.peer != nil { link.send(.leave(senderId: local.peerId)) }
      link.close(.stopped)
    }
    self.local = nil
  }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    guard let link = linkOfPeer[peer] else { return }
    sentCount += 1
    if !link.send(message) { logger.error("\(peer) \(Frame.tooLongToSend)") }
  }

  /// Says goodbye and closes. A wanted peer is called again after a while; `forget` it first to prevent that.
  public func disconnect(_ peer: PeerId) {
    guard let local, let link = linkOfPeer[peer] else { return }
    link.send(.leave(senderId: local.peerId))
    link.close(.stopped)
  }

  public func setReading(_ reads: Bool, from peer: PeerId) { linkOfPeer[peer]?.isHeld = !reads }

  /// How we introduce ourselves to peers that connect from now on.
  public func update(_ metadata: PeerMetadata) { local?.metadata = metadata }

  // MARK: Listening

  /// The address we listen on; nil if we do not.
  public var listening: PeerAddress? {
    listener?.address.map { PeerAddress(host: $0.host, port: $0.port) }
  }

  /// The addresses where peers may reach us, likeliest first, `Ticket.maximumAddresses` at most.
  ///
  /// - Complexity: O(n) in the machine's interfaces, with a few system calls.
  public var reachableAddresses: [PeerAddress] {
    guard let listening else { return [] }
    guard listening.isAny else { return [listening] }
    let usable = NetworkInterface.all.filter { interface in
      // A link-local address means another machine on every link.
      let host = interface.address.host
      return !host.hasPrefix("fe80:") && (!interface.address.isIPv6 || listening.host == "::")
    }
    let ordered =
      usable.filter { !$0.isInternal && !$0.address.isIPv6 }
      + usable.filter { !$0.isInternal && $0.address.isIPv6 } + usable.filter { $0.isInternal && !$0.address.isIPv6 }
    return ordered.prefix(Ticket.maximumAddresses).map { PeerAddress(host: $0.address.host, port: listening.port) }
  }

  /// Accepts connections from now on, at one address or, for host `*`, at all. Port 0 picks a free one.
  /// - Returns: the address.
  @discardableResult
  public func listen(at address: PeerAddress) throws(PeerNetworkError) -> PeerAddress {
    guard local != nil else { throw .stopped }
    // Where there is IPv6, its wildcard address accepts both kinds.
    let hosts = address.host == PeerAddress.anyHost ? ["::", "0.0.0.0"] : [address.host]
    var problem = PeerNetworkError.badAddress(address.description)
    for host in hosts {
      do {
        let new = try TCPListener(on: loop, host: host, port: address.port) { [weak self] stream in
          nonisolated(unsafe) let stream = stream
          AutomergeRepo.assumeIsolated {
            if let self { self.accept(stream) } else { stream.close() }
          }
        }
        listener?.close()
        listener = new
        return listening ?? address
      } catch {
        problem = .cannotListen(address, reason: error.message)
      }
    }
    throw problem
  }

  private func accept(_ stream: TCPStream) {
    guard let local, let source = stream.peerAddress else { return stream.close() }
    // An IPv4 caller of an IPv6 socket.
    let host = source.host.hasPrefix("::ffff:") ? String(source.host.dropFirst(7)) : source.host
    let address = PeerAddress(host: host, port: source.port)
    if let evicted = StrangerLinks.evicted(for: host, among: strangers), let link = links[evicted] {
      link.close(.tooManyConnections, politely: false)
      links[evicted] = nil
      closed(link, .tooManyConnections)
    }
    guard links.count < TCPProvider.maximumConnections, let session = try? TLSSession(tls, .listener) else {
      return stream.close()
    }
    let link = add(stream, session, address, .listener, local)
    link.open()
    expireStrangers()
  }

  /// Incoming links of strangers, or of peers not identified yet.
  private var strangers: [StrangerLinks.Link] {
    links.values.filter { !$0.isTrusted && $0.direction == .incoming }.map { link in
      StrangerLinks.Link(
        id: ObjectIdentifier(link), host: link.address.host, openedAt: link.openedAt,
        isAwaited: link.peer.map { isAwaited($0) } ?? false)
    }
  }

  /// Closes strangers' links after a while, unless our person waits for the peer. One timer for all: thousands of callers may
  /// come and go within that while.
  private func expireStrangers() {
    let now = clock.now
    guard expiryTimer == nil, !strangers.isEmpty else { return }
    let next = strangers.map { $0.openedAt + StrangerLinks.idleLimit }.filter { $0 > now }.min()
    expiryTimer = clock.schedule(after: next.map { $0 - now } ?? StrangerLinks.idleLimit) { [weak self] in
      guard let self else { return }
      self.expiryTimer = nil
      let due = self.clock.now - StrangerLinks.idleLimit
      for stranger in self.strangers where stranger.openedAt <= due && !stranger.isAwaited {
        self.links[stranger.id]?.close(.stopped)
      }
      self.expireStrangers()
    }
  }

  // MARK: Calling

  /// Calls an address once. A connected peer counts as reached.
  public func connect(
    to address: PeerAddress, expecting peer: PeerId? = nil
  ) async throws(PeerNetworkError) -> PeerId {
    try await connect(toAnyOf: [address], expecting: peer)
  }

  /// Calls these addresses of a peer, each with a short head start, until one leads to it.
  public func connect(
    toAnyOf addresses: [PeerAddress], expecting peer: PeerId?
  ) async throws(PeerNetworkError) -> PeerId {
    let result = await OneReply<Result<PeerId, PeerNetworkError>>.wait(otherwise: .failure(.stopped)) { reply in
      call(addresses, expecting: peer) { reply.resume(returning: $0) }
    }
    return try result.get()
  }

  /// Calls the peer at these addresses if its fingerprint begins with these bytes; says nothing to any other.
  func connect(
    to address: PeerAddress, keyBeginningWith start: [UInt8]
  ) async throws(PeerNetworkError) -> PeerId {
    let result = await OneReply<Result<PeerId, PeerNetworkError>>.wait(otherwise: .failure(.stopped)) { reply in
      call(address, expecting: nil, keyStart: start) { reply.resume(returning: $0) }
    }
    return try result.get()
  }

  func call(
    _ addresses: [PeerAddress], expecting peer: PeerId?, timeout: Duration? = nil, done: @escaping Attempt
  ) {
    Dialing(addresses: addresses, done: done).start(clock: clock) { [weak self] address, done in
      guard let self else { return done(.failure(.stopped)) }
      self.call(address, expecting: peer, timeout: timeout, done: done)
    }
  }

  /// - Parameter replaces: whether to call beside an existing connection that has stalled.
  func call(
    _ address: PeerAddress, expecting peer: PeerId?, keyStart: [UInt8]? = nil, replaces: Bool = false,
    timeout: Duration? = nil, done: @escaping Attempt
  ) {
    guard local != nil else { return done(.failure(.stopped)) }
    if let peer, !replaces, isConnected(peer) { return done(.success(peer)) }
    guard links.count < TCPProvider.maximumConnections else { return done(.failure(.tooManyConnections)) }
    let timeout = timeout ?? (replaces ? TCPProvider.rescueTimeout : connectTimeout)
    TCPStream.connect(on: loop, host: address.host, port: address.port, timeout: timeout) { result in
      nonisolated(unsafe) let result = result
      AutomergeRepo.assumeIsolated {
        switch result {
        case .failure(let error):
          done(
            .failure(
              error.isSilence ? .noAnswer(address, reason: "\(error)") : .unreachable(address, reason: "\(error)")))
        case .success(let stream):
          self.called(stream, address, expecting: peer, keyStart: keyStart, replaces: replaces, done)
        }
      }
    }
  }

  private func called(
    _ stream: TCPStream, _ address: PeerAddress, expecting peer: PeerId?, keyStart: [UInt8]?, replaces: Bool,
    _ done: @escaping Attempt
  ) {
    do throws(PeerNetworkError) {
      guard let local else { throw .stopped }
      if let peer, replaces ? !isStuck(peer) : isConnected(peer) {
        stream.close()
        return done(.success(peer))
      }
      let session: TLSSession
      do {
        session = try TLSSession(tls, .dialer, expecting: peer.map { Identity.fingerprint(of: $0) ?? [] } ?? keyStart)
      } catch {
        throw .insecure(error)
      }
      let link = add(stream, session, address, .dialer(expecting: peer), local)
      attempts[ObjectIdentifier(link)] = done
      if replaces, let peer { rescues[peer]?.link = link }
      link.open()
    } catch {
      stream.close()
      done(.failure(error))
    }
  }

  private func add(
    _ stream: TCPStream, _ session: TLSSession, _ address: PeerAddress, _ role: PeerHandshake.Role, _ local: LocalPeer
  ) -> PeerLink {
    var local = local
    local.metadata.addresses = reachableAddresses.map(\.description)
    let link = PeerLink(
      stream: stream, tls: session, address: address, role: role, local: local, clock: clock, share: share,
      unsent: unsent, unfinished: unfinished,
      admits: { [weak self] peer in self?.isBlocked(peer) == false },
      onEvent: { [weak self] link, event in self?.handle(event, of: link) })
    links[ObjectIdentifier(link)] = link
    return link
  }

  // MARK: Links

  /// The other end of a peer's connection; nil if there is none.
  public func address(of peer: PeerId) -> PeerAddress? { linkOfPeer[peer]?.address }

  /// The address at which a connected peer was called; nil if it called us.
  func dialledAddress(of peer: PeerId) -> PeerAddress? {
    linkOfPeer[peer].flatMap { $0.direction == .outgoing ? $0.address : nil }
  }

  /// Connections of any kind, strangers included.
  var linkCount: Int { links.count }

  public func isConnected(_ peer: PeerId) -> Bool { linkOfPeer[peer]?.isOpen == true }

  /// Call when this machine's addresses have changed. Ends connections from a lost address, and pings the others.
  func addressesChanged() {
    let hosts = Set(NetworkInterface.all.map(\.address.host))
    for link in Array(linkOfPeer.values) {
      guard let host = link.localHost else { continue }
      let bare = host.hasPrefix("::ffff:") ? String(host.dropFirst(7)) : host
      if !hosts.contains(bare), !bare.hasPrefix("fe80:") {
        link.close(.unreachable(link.address, reason: "this machine has another address now"), politely: false)
      }
    }
    woke()
  }

  /// A peer is announced at other addresses than the one at which it is connected.
  func doubt(_ peer: PeerId, heardAt addresses: [PeerAddress]) {
    guard let link = linkOfPeer[peer], link.direction == .outgoing || wanted[peer] != nil,
      !addresses.contains(where: { $0.host == link.address.host })
    else { return }
    link.doubt()
  }

  /// The machine has slept, and its network may have changed: pings every connected peer and calls every missing one at once.
  func woke() {
    for link in Array(linkOfPeer.values) { link.doubt() }
    networkImproved()
  }

  /// The network may be back: calls every peer that is missing, or that does not get what is sent, at once.
  func networkImproved() {
    for link in Array(linkOfPeer.values) where link.isStuck { rescue(link) }
    for peer in Array(wanted.keys) { callNow(peer) }
  }

  /// Lets a connected peer send long messages from now on.
  func trust(_ peer: PeerId) { linkOfPeer[peer]?.isTrusted = true }

  private func handle(_ event: PeerLink.Event, of link: PeerLink) {
    switch event {
    case .established(let peer, let metadata): established(link, peer, metadata)
    case .received(let message):
      guard let peer = link.peer, linkOfPeer[peer] === link else { return }
      delegate?.network(self, received: message, from: peer)
    case .crowded(let isCrowded):
      guard let peer = link.peer, linkOfPeer[peer] === link else { return }
      delegate?.network(self, peer, isCrowded: isCrowded)
    case .stuck: rescue(link)
    case .closed(let reason): closed(link, reason)
    }
  }

  private func established(_ link: PeerLink, _ peer: PeerId, _ metadata: PeerMetadata) {
    guard let local else { return link.close(.stopped) }
    let done = attempts.removeValue(forKey: ObjectIdentifier(link))
    defer { done?(.success(peer)) }
    if let old = linkOfPeer[peer] {
      guard
        !old.isOpen || clock.now - old.openedAt > crossingTime
          || LinkDirection.newStays(local: local.peerId, peer: peer, old: old.direction, new: link.direction)
      else { return link.close(.stopped) }
      linkOfPeer[peer] = nil
      old.close(.stopped)
      delegate?.network(self, disconnected: peer)
    }
    linkOfPeer[peer] = link
    rescues[peer] = nil
    link.isTrusted = isKnown(peer) || wanted[peer] != nil
    logger.debug("connected to \(peer) at \(link.address)")
    tell(peer, .connected)
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  private func closed(_ link: PeerLink, _ reason: PeerNetworkError) {
    links[ObjectIdentifier(link)] = nil
    if let done = attempts.removeValue(forKey: ObjectIdentifier(link)) { done(.failure(reason)) }
    guard let peer = link.peer, linkOfPeer[peer] === link else { return }
    linkOfPeer[peer] = nil
    wanted[peer]?.lastHost = link.address.host
    rescues[peer] = nil
    logger.debug("lost \(peer): \(reason)")
    delegate?.network(self, disconnected: peer)
    tell(peer, .lost)
  }
}
