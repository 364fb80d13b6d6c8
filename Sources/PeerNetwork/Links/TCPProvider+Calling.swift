import AutomergeRepo
import PeerTransport
import UV

extension TCPProvider {
  /// The head start of each address before the next one of the same peer is called, too.
  static let dialStagger: Duration = .milliseconds(150)

  /// The time limit of a call beside a stalled connection. Further calls start meanwhile.
  static let redialTimeout: Duration = .milliseconds(1500)

  /// The time limit of a call to a peer on a network of this machine, where an answer takes milliseconds: the kernel
  /// would retransmit only after increasing pauses.
  nonisolated static let nearbyTimeout: Duration = .seconds(1)

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

  /// Calls the peer at this address if its fingerprint begins with these bytes; sends nothing to any other.
  func connect(
    to address: PeerAddress, keyBeginningWith start: [UInt8]
  ) async throws(PeerNetworkError) -> PeerId {
    let result = await OneReply<Result<PeerId, PeerNetworkError>>.wait(otherwise: .failure(.stopped)) { reply in
      call(address, expecting: nil, keyStart: start) { reply.resume(returning: $0) }
    }
    return try result.get()
  }

  private func call(
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
    guard links.count < Self.maximumConnections else { return done(.failure(.tooManyConnections)) }
    let timeout = timeout ?? (replaces ? Self.redialTimeout : connectTimeout)
    endpoint.connect(to: address, timeout: timeout) { result in
      do throws(PeerNetworkError) {
        let stream = try result.get()
        try self.called(stream, address, expecting: peer, keyStart: keyStart, replaces: replaces, done)
      } catch {
        done(.failure(error))
      }
    }
  }

  private func called(
    _ stream: TCPStream, _ address: PeerAddress, expecting peer: PeerId?, keyStart: [UInt8]?, replaces: Bool,
    _ done: @escaping Attempt
  ) throws(PeerNetworkError) {
    do throws(PeerNetworkError) {
      guard let local else { throw .stopped }
      if let peer, replaces ? !redials.isNeeded(for: peer, at: clock.now) : isConnected(peer) {
        stream.close()
        return done(.success(peer))
      }
      let expected = peer.map { Identity.fingerprint(of: $0) ?? [] } ?? keyStart
      let transport = try endpoint.transport(over: stream, expecting: expected)
      let link = add(transport, address, .dialer(expecting: peer), local, for: done)
      if replaces, let peer { redials.gotThrough(link, to: peer) }
      link.open()
    } catch {
      stream.close()
      throw error
    }
  }

  // MARK: Peers to keep connected

  /// Keeps a peer connected: calls it at these addresses repeatedly until `forget`. New addresses replace the old ones.
  public func keepConnected(to peer: PeerId, at addresses: [PeerAddress]) {
    guard let local, peer != local.peerId else { return }
    trust(peer)
    wanted.insert(peer, at: addresses, isConnected: isConnected(peer))
  }

  /// Calls a waiting peer at once, because its address may be new.
  func callNow(_ peer: PeerId) { wanted.tell(peer, .found) }

  /// Stops calling a peer. An existing connection stays.
  public func forget(_ peer: PeerId) { wanted.remove(peer) }

  /// Calls a wanted peer, and reports the outcome.
  func dial(_ peer: PeerId, at addresses: [PeerAddress]) {
    let isNear = policy.isNearby(peer) || wanted.wasNear(peer)
    let timeout = isNear ? min(Self.nearbyTimeout, connectTimeout) : connectTimeout
    call(addresses, expecting: peer, timeout: timeout) { [weak self] result in
      switch result {
      case .success: break
      case .failure(.noAnswer) where isNear: self?.wanted.tell(peer, .unanswered)
      case .failure: self?.wanted.tell(peer, .failed)
      }
    }
  }

  /// Calls a peer again when nothing arrives; a call that succeeds replaces the connection. A peer that we cannot call
  /// does the same from its side.
  func redial(_ link: PeerLink) {
    guard let peer = link.peer, let entry = links.entry(of: peer), entry.link === link, link.isTrusted,
      !redials.isUnderWay(to: peer) || redials.isNeeded(for: peer, at: clock.now)
    else { return }
    redials.begin(peer)
    var addresses = link.direction == .outgoing ? [entry.address] : []
    addresses += wanted.addresses(of: peer).filter { !addresses.contains($0) }
    for address in addresses.prefix(2) { call(address, expecting: peer, replaces: true) { _ in } }
  }

  // MARK: News of the network

  /// The other end of a peer's connection; nil if there is none.
  public func address(of peer: PeerId) -> PeerAddress? { links.entry(of: peer)?.address }

  /// The address at which a connected peer was called; nil if it called us.
  func dialledAddress(of peer: PeerId) -> PeerAddress? {
    links.entry(of: peer).flatMap { $0.link.direction == .outgoing ? $0.address : nil }
  }

  public func isConnected(_ peer: PeerId) -> Bool { links[peer]?.isOpen == true }

  /// Call when this machine's addresses have changed. Ends connections from a lost address, and pings the others.
  func addressesChanged() {
    let hosts = Set(NetworkInterface.all.map(\.address.host))
    for link in links.ofPeers {
      guard let host = link.localHost?.withoutIPv6Mapping else { continue }
      if !hosts.contains(host), !host.hasPrefix("fe80:") {
        link.close(.lost(reason: "this machine has another address now"), politely: false)
      }
    }
    woke()
  }

  /// Call when a peer is announced at other addresses than the one at which it is connected: its connection may be
  /// dead.
  func probe(_ peer: PeerId, heardAt addresses: [PeerAddress]) {
    guard let entry = links.entry(of: peer), entry.link.direction == .outgoing || wanted.contains(peer),
      !addresses.contains(where: { $0.host == entry.address.host })
    else { return }
    entry.link.probe()
  }

  /// The machine has slept, and its network may have changed: pings every connected peer and calls every missing one at once.
  func woke() {
    for link in links.ofPeers { link.probe() }
    networkImproved()
  }

  /// Call when the network may be back: calls every missing peer at once, and every one whose connection has stalled.
  func networkImproved() {
    for link in links.ofPeers where link.isStalled { redial(link) }
    for peer in wanted.all { callNow(peer) }
  }
}
