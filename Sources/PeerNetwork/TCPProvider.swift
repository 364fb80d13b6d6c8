import AutomergeRepo
import Logging
import UV

/// Peers over TCP: listens, calls, keeps wanted peers connected, and at most one connection to each.
///
/// Until links are encrypted it neither listens nor calls beyond this machine. Without `listen` it only calls.
public final class TCPProvider: NetworkProvider {
  /// Source: PeerProtocol.md, "Limits".
  public static let maximumConnections = 128
  static let maximumStrangers = 32

  let loop: Loop
  let clock: any RepoClock
  let logger: Logger
  var random: RandomSource
  var connectTimeout = PeerHandshake.timeout
  /// Nil until started and after stopping.
  private(set) var local: LocalPeer?
  private weak var delegate: (any NetworkDelegate)?
  private var listener: TCPListener?
  private var links: [ObjectIdentifier: PeerLink] = [:]
  private var linkOfPeer: [PeerId: PeerLink] = [:]
  private var attempts: [ObjectIdentifier: @AutomergeRepo (Result<PeerId, PeerNetworkError>) -> Void] = [:]
  var wanted: [PeerId: WantedPeer] = [:]

  public init(
    loop: Loop, clock: any RepoClock, random: RandomSource = RandomSource(), logger: Logger = Logger(label: "peers")
  ) {
    (self.loop, self.clock, self.random, self.logger) = (loop, clock, random, logger)
  }

  // MARK: Provider

  public func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    (self.local, self.delegate) = (local, delegate)
  }

  public func stop() {
    guard let local else { return }
    for peer in Array(wanted.keys) { forget(peer) }
    listener?.close()
    listener = nil
    for link in links.values {
      if link.peer != nil { link.send(.leave(senderId: local.peerId)) }
      link.close(.stopped)
    }
    self.local = nil
  }

  public func send(_ message: RepoMessage, to peer: PeerId) {
    linkOfPeer[peer]?.send(message)
  }

  /// Says goodbye and closes. A wanted peer is called again after a while; `forget` it first to prevent that.
  public func disconnect(_ peer: PeerId) {
    guard let local, let link = linkOfPeer[peer] else { return }
    link.send(.leave(senderId: local.peerId))
    link.close(.stopped)
  }

  /// What we tell peers that connect from now on.
  public func update(_ metadata: PeerMetadata) {
    local?.metadata = metadata
    if let listening { local?.metadata.addresses = [listening.description] }
  }

  // MARK: Listening

  /// Where peers can reach us; nil if they cannot.
  public var listening: PeerAddress? {
    listener?.address.map { PeerAddress(host: $0.host, port: $0.port) }
  }

  /// Takes connections from now on, at one address. Port 0 takes a free one.
  /// - Returns: where.
  @discardableResult
  public func listen(at address: PeerAddress) throws(PeerNetworkError) -> PeerAddress {
    guard let local else { throw .stopped }
    guard address.isLoopback else { throw .notLoopback(address) }
    do {
      let new = try TCPListener(on: loop, host: address.host, port: address.port) { [weak self] stream in
        nonisolated(unsafe) let stream = stream
        AutomergeRepo.assumeIsolated {
          if let self { self.accept(stream) } else { stream.close() }
        }
      }
      listener?.close()
      listener = new
    } catch {
      throw .cannotListen(address, reason: error.message)
    }
    update(local.metadata)
    return listening ?? address
  }

  private func accept(_ stream: TCPStream) {
    let strangers = links.values.count { $0.peer == nil }
    guard let local, let source = stream.peerAddress, links.count < TCPProvider.maximumConnections,
      strangers < TCPProvider.maximumStrangers
    else { return stream.close() }
    let address = PeerAddress(host: source.host, port: source.port)
    guard address.isLoopback else { return stream.close() }
    add(stream, address, .listener, local)
  }

  // MARK: Calling

  /// Calls an address once. A peer that is connected already counts as reached.
  public func connect(
    to address: PeerAddress, expecting peer: PeerId? = nil
  ) async throws(PeerNetworkError) -> PeerId {
    if let peer, linkOfPeer[peer] != nil { return peer }
    let result = await withCheckedContinuation { continuation in
      call(address, expecting: peer) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  func call(
    _ address: PeerAddress, expecting peer: PeerId?,
    done: @escaping @AutomergeRepo (Result<PeerId, PeerNetworkError>) -> Void
  ) {
    guard local != nil else { return done(.failure(.stopped)) }
    guard address.isLoopback else { return done(.failure(.notLoopback(address))) }
    guard links.count < TCPProvider.maximumConnections else { return done(.failure(.tooManyConnections)) }
    TCPStream.connect(on: loop, host: address.host, port: address.port, timeout: connectTimeout) { result in
      nonisolated(unsafe) let result = result
      AutomergeRepo.assumeIsolated {
        switch result {
        case .failure(let error):
          done(.failure(.unreachable(address, reason: "\(error)")))
        case .success(let stream):
          guard let local = self.local else {
            stream.close()
            return done(.failure(.stopped))
          }
          let link = self.add(stream, address, .dialer(expecting: peer), local, done: done)
          link.open()
        }
      }
    }
  }

  @discardableResult
  private func add(
    _ stream: TCPStream, _ address: PeerAddress, _ role: PeerHandshake.Role, _ local: LocalPeer,
    done: (@AutomergeRepo (Result<PeerId, PeerNetworkError>) -> Void)? = nil
  ) -> PeerLink {
    let link = PeerLink(stream: stream, address: address, role: role, local: local, clock: clock) {
      [weak self] link, event in
      self?.handle(event, of: link)
    }
    links[ObjectIdentifier(link)] = link
    attempts[ObjectIdentifier(link)] = done
    if role == .listener { link.open() }
    return link
  }

  // MARK: Links

  /// The other end of a peer's connection; nil if there is none.
  public func address(of peer: PeerId) -> PeerAddress? { linkOfPeer[peer]?.address }

  /// Connections of any kind, strangers included.
  var linkCount: Int { links.count }

  public func isConnected(_ peer: PeerId) -> Bool { linkOfPeer[peer] != nil }

  private func handle(_ event: PeerLink.Event, of link: PeerLink) {
    switch event {
    case .established(let peer, let metadata): established(link, peer, metadata)
    case .received(let message):
      guard let peer = link.peer, linkOfPeer[peer] === link else { return }
      delegate?.network(self, received: message, from: peer)
    case .closed(let reason): closed(link, reason)
    }
  }

  private func established(_ link: PeerLink, _ peer: PeerId, _ metadata: PeerMetadata) {
    guard let local else { return link.close(.stopped) }
    let done = attempts.removeValue(forKey: ObjectIdentifier(link))
    defer { done?(.success(peer)) }
    if let old = linkOfPeer[peer] {
      guard
        !old.isOpen
          || LinkDirection.newStays(local: local.peerId, peer: peer, old: old.direction, new: link.direction)
      else { return link.close(.stopped) }
      linkOfPeer[peer] = nil
      old.close(.stopped)
      delegate?.network(self, disconnected: peer)
    }
    linkOfPeer[peer] = link
    logger.debug("connected to \(peer) at \(link.address)")
    tell(peer, .connected)
    delegate?.network(self, connected: peer, metadata: metadata)
  }

  private func closed(_ link: PeerLink, _ reason: PeerNetworkError) {
    links[ObjectIdentifier(link)] = nil
    if let done = attempts.removeValue(forKey: ObjectIdentifier(link)) { done(.failure(reason)) }
    guard let peer = link.peer, linkOfPeer[peer] === link else { return }
    linkOfPeer[peer] = nil
    logger.debug("lost \(peer): \(reason)")
    delegate?.network(self, disconnected: peer)
    tell(peer, .lost)
  }
}
