import AutomergeRepo
import Logging
import PeerTransport
import UV

/// The other processes on one database, on this machine or others, over TLS: each two of them are connected.
///
/// A process makes a key at each start, and the database's table of processes lists each process's key and addresses. A
/// connection is accepted if its key is in the table: a process that may write there can read every document anyway.
/// Siblings exchange messages about a document only if both have it open, because each can read it from the database.
@AutomergeRepo
public final class StoreSiblingProvider: NetworkProvider {
  /// Larger than the number of processes on any database.
  static let maximumConnections = 512
  /// The limits of callers that have not proved a key in the list. Many processes of one machine may call at once.
  static let maximumStrangers = 128
  static let maximumStrangersPerAddress = 32
  /// The limit of one call, whose addresses are tried one after the other, each with a head start.
  static let callTimeout: Duration = .seconds(3)

  public nonisolated let isSiblings = true
  /// Called when a process connects that is not in the list yet, which may be old. The process will call again soon.
  public var onUnknown: (@AutomergeRepo () -> Void)?

  private let endpoint: TLSEndpoint
  private let clock: any RepoClock
  private let isOpen: @AutomergeRepo (DocumentId) -> Bool
  private let logger: Logger
  private var mesh: SiblingMesh
  private weak var delegate: (any NetworkDelegate)?
  /// Nil until started and after stopping.
  private var repoPeer: LocalPeer?
  private var links: [ObjectIdentifier: PeerLink] = [:]
  /// The hosts of the callers that have not proved anything yet, by their links.
  private var strangers: [ObjectIdentifier: String] = [:]
  /// The closures that wait for the outcomes of our calls, by their links.
  private var calls: [ObjectIdentifier: @AutomergeRepo (LinkError?) -> Void] = [:]
  private var linkOfPeer: [PeerId: PeerLink] = [:]

  /// - Parameters:
  ///   - identity: this process's own; no two processes have the same
  ///   - isOpen: whether a document is in this process's memory
  public init(
    loop: Loop, clock: any RepoClock, identity: Identity = Identity(), logger: Logger = Logger(label: "siblings"),
    isOpen: @escaping @AutomergeRepo (DocumentId) -> Bool
  ) throws(TLSError) {
    endpoint = try TLSEndpoint(loop: loop, identity: identity)
    mesh = SiblingMesh(local: identity.peerId)
    (self.clock, self.logger, self.isOpen) = (clock, logger, isOpen)
  }

  /// The peer id of this process's key, by which its siblings know it.
  public var key: PeerId { endpoint.peerId }

  /// The addresses where siblings may reach us, likeliest first; none if we do not listen.
  public var addresses: [PeerAddress] { endpoint.reachableAddresses }

  /// The number of connections of any kind, including those of callers that have proved nothing.
  var connectionCount: Int { links.count }

  /// The processes that are connected.
  public var siblings: [PeerId] { linkOfPeer.keys.sorted() }

  /// Accepts calls of siblings from now on. Port 0 takes a free one.
  /// - Returns: the address.
  @discardableResult
  public func listen(at address: PeerAddress) throws(PeerNetworkError) -> PeerAddress {
    try endpoint.listen(at: address) { [weak self] transport, caller in
      if let self { self.accept(transport, from: caller.host) } else { transport.close() }
    }
  }

  private func accept(_ transport: TLSTransport, from host: String) {
    let waiting = strangers.compactMap { id, host in
      links[id].map { StrangerLinks.Link(id: id, host: host, openedAt: $0.openedAt, isAwaited: false) }
    }
    let evicted = StrangerLinks.evicted(
      for: host, among: waiting, maximumCount: Self.maximumStrangers,
      maximumPerAddress: Self.maximumStrangersPerAddress)
    if let evicted, let link = links[evicted] {
      link.close(.tooManyConnections, politely: false)
      closed(link, .tooManyConnections)
    }
    guard links.count < Self.maximumConnections else { return transport.close() }
    add(transport, .listener, from: host)
  }

  /// Sets the other processes on the database, by the peer ids of their keys. Connects to those that are new.
  public func found(_ processes: [PeerId: [PeerAddress]]) { tell(.found(processes)) }

  // MARK: Provider

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    (repoPeer, self.delegate) = (local, delegate)
  }

  public func stop() {
    guard let local else { return }
    repoPeer = nil
    endpoint.stopListening()
    for link in links.values {
      if link.peer != nil { link.send(.leave(senderId: local.peerId)) }
      link.close(.stopped)
    }
  }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    guard let repoPeer, let local, let link = linkOfPeer[peer] else { return }
    if !link.send(message.exchanging(repoPeer.peerId, for: local.peerId)) {
      logger.error("\(peer) \(Frame.tooLongToSend)")
    }
  }

  public func disconnect(_ peer: PeerId) { linkOfPeer[peer]?.close(.stopped) }

  public func setReading(_ reads: Bool, from peer: PeerId) { linkOfPeer[peer]?.isHeld = !reads }

  /// How we introduce ourselves to siblings.
  private var local: LocalPeer? {
    repoPeer.map { LocalPeer(peerId: endpoint.peerId, metadata: $0.metadata) }
  }

  // MARK: Calling

  private func tell(_ event: SiblingMesh.Event) {
    for effect in mesh.receive(event) {
      switch effect {
      case .call(let peer, let addresses): call(peer, addresses)
      case .startTimer(let peer, let pause, let number):
        clock.schedule(after: pause) { [weak self] in self?.tell(.timerFired(peer, number)) }
      }
    }
  }

  private func call(_ peer: PeerId, _ addresses: [PeerAddress]) {
    let dialing = Dialing(addresses: addresses) { [weak self] result in
      if case .failure = result { self?.tell(.failed(peer)) }
    }
    dialing.start(clock: clock) { [weak self] address, done in
      guard let self, self.repoPeer != nil else { return done(.failure(.stopped)) }
      self.endpoint.connect(to: address, timeout: Self.callTimeout) { result in
        do throws(PeerNetworkError) {
          let stream = try result.get()
          // It may have called us meanwhile.
          if self.linkOfPeer[peer] != nil {
            stream.close()
            return done(.success(peer))
          }
          let expected = Identity.fingerprint(of: peer) ?? []
          let transport = try self.endpoint.transport(over: stream, expecting: expected)
          self.add(transport, .dialer(expecting: peer)) { error in
            done(error.map { .failure(PeerNetworkError($0, at: address)) } ?? .success(peer))
          }
        } catch {
          done(.failure(error))
        }
      }
    }
  }

  // MARK: Links

  /// - Parameters:
  ///   - host: where the caller is; nil if we have called.
  ///   - done: called when the link has reached its peer, or has failed, with the reason.
  private func add(
    _ transport: TLSTransport, _ role: PeerHandshake.Role, from host: String? = nil,
    _ done: (@AutomergeRepo (LinkError?) -> Void)? = nil
  ) {
    guard let local else {
      transport.close()
      done?(.stopped)
      return
    }
    let link = PeerLink(transport, as: role, local: local, clock: clock) { [weak self] link, event in
      self?.handle(event, of: link)
    }
    links[ObjectIdentifier(link)] = link
    strangers[ObjectIdentifier(link)] = host
    calls[ObjectIdentifier(link)] = done
    link.open()
  }

  private func handle(_ event: PeerLink.Event, of link: PeerLink) {
    switch event {
    case .proven(let proof): proven(proof, link)
    case .established(let peer, let metadata): established(link, peer, metadata)
    case .received(let message): received(message, over: link)
    case .crowded(let isCrowded):
      if let peer = link.peer, linkOfPeer[peer] === link { delegate?.network(self, peer, isCrowded: isCrowded) }
    // The keepalive ends a link that is dead.
    case .stalled: break
    case .closed(let error): closed(link, error)
    }
  }

  /// Called before anything is sent to the other end.
  private func proven(_ proof: PeerProof, _ link: PeerLink) {
    guard let peer = proof.peer, mesh.knows(peer) else {
      link.close(.handshake(.wrongPeer))
      onUnknown?()
      return
    }
    strangers[ObjectIdentifier(link)] = nil
  }

  private func established(_ link: PeerLink, _ peer: PeerId, _ metadata: PeerMetadata) {
    guard let local else { return link.close(.stopped) }
    if let old = linkOfPeer[peer] {
      let stays = LinkDirection.newStays(local: local.peerId, peer: peer, old: old.direction, new: link.direction)
      guard stays else { return link.close(.stopped) }
      linkOfPeer[peer] = nil
      delegate?.network(self, disconnected: peer)
      old.close(.stopped)
    }
    linkOfPeer[peer] = link
    link.isTrusted = true
    tell(.connected(peer))
    calls.removeValue(forKey: ObjectIdentifier(link))?(nil)
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  private func received(_ message: RepoMessage, over link: PeerLink) {
    guard let peer = link.peer, linkOfPeer[peer] === link, let repoPeer, let local else { return }
    if case .document(let message) = message, message.content != .unavailable, !isOpen(message.documentId) {
      // No client of this process needs it. When a client opens it, it is announced to all siblings.
      link.send(
        .document(
          .init(senderId: local.peerId, targetId: peer, documentId: message.documentId, content: .unavailable)))
      return
    }
    delegate?.network(self, received: message.exchanging(local.peerId, for: repoPeer.peerId), from: peer)
  }

  private func closed(_ link: PeerLink, _ error: LinkError) {
    links[ObjectIdentifier(link)] = nil
    strangers[ObjectIdentifier(link)] = nil
    if let peer = link.peer, linkOfPeer[peer] === link {
      linkOfPeer[peer] = nil
      delegate?.network(self, disconnected: peer)
      tell(.lost(peer))
    }
    calls.removeValue(forKey: ObjectIdentifier(link))?(error)
  }
}
