import AutomergeRepo
import UV

/// One connection: bytes to messages and back, encryption, the handshake, and signs of life.
///
///     (encrypting) ──the other side's key──► handshaking ──established──► talking ──► closed
@AutomergeRepo
final class PeerLink {
  /// An event for the link's provider, never sent inside a call of the provider's.
  enum Event {
    case established(PeerId, PeerMetadata)
    case received(RepoMessage)
    /// Much of what was sent has not left this machine, or all of it has.
    case crowded(Bool)
    /// Sent bytes do not arrive; repeated until they do.
    case stuck
    /// The last event.
    case closed(PeerNetworkError)
  }

  /// Unsent bytes beyond which a peer is too slow to keep. Source: PeerProtocol.md, "Expensive changes".
  static let queueLimit = 64 << 20

  /// The same for a stranger, from which we stop reading while more than `strangerPauseLimit` wait.
  static let strangerQueueLimit = 256 << 10
  static let strangerPauseLimit = 64 << 10
  /// Beyond this many unsent bytes a peer is told nothing new until all of them have left; also when much waits for other
  /// peers.
  static let crowdLimit = 1 << 20
  static let crowdLimitOfMany = 64 << 10

  let direction: LinkDirection
  let address: PeerAddress
  private(set) var metadata = PeerMetadata()
  /// The peer at the other end, also after it has gone.
  private(set) var peer: PeerId?

  /// Whether the peer may send long messages. A stranger needs none.
  var isTrusted = false {
    didSet { frames.limit = isTrusted ? Frame.maximumByteCount : Frame.maximumByteCountBeforeHandshake }
  }

  /// Reading is paused: earlier messages of the peer still wait.
  var isHeld = false { didSet { if isHeld != oldValue { goOn() } } }

  private let stream: ByteStream
  /// Nil between processes of one person, where no one can listen in.
  private let tls: TLSSession?
  private let role: PeerHandshake.Role
  private let local: LocalPeer
  private let clock: any RepoClock
  private let admits: (PeerId) -> Bool
  private let onEvent: (PeerLink, Event) -> Void
  private var frames = FrameDecoder()
  /// Nil until the other side's key is known.
  private var handshake: PeerHandshake?
  private var keepalive: Keepalive
  private var timer: (any ScheduledAction)?
  /// Runs while something is in transit.
  private var transitTimer: (any ScheduledAction)?
  private var transit = Transit()
  private(set) var openedAt: Duration
  /// A ping came while there was no room for the answer. One answer serves for all of them.
  private var owesPong = false
  private var reason: PeerNetworkError?
  /// What waits for all peers together; nil without a limit.
  private let unsent: UnsentBytes?
  /// The same for long messages that are unfinished.
  private let unfinished: UnfinishedFrames?
  /// When the long message that is coming in began.
  private(set) var unfinishedSince: Duration?
  /// Decides which links may work when; nil without a limit.
  private let share: WorkShare?
  private var work = LinkWork()
  private var isResting = false
  private var saysCrowded = false

  /// - Parameters:
  ///   - tls: encrypts the link; nil for plain bytes.
  ///   - admits: whether we talk at all to a peer that has proved its key.
  ///   - onEvent: called for every event from now on, never inside a call of the provider's.
  init(
    stream: ByteStream, tls: TLSSession?, address: PeerAddress, role: PeerHandshake.Role, local: LocalPeer,
    clock: any RepoClock, share: WorkShare? = nil, unsent: UnsentBytes? = nil,
    unfinished: UnfinishedFrames? = nil,
    admits: @escaping @AutomergeRepo (PeerId) -> Bool = { _ in true },
    onEvent: @escaping @AutomergeRepo (PeerLink, Event) -> Void
  ) {
    (self.stream, self.tls, self.address, self.role, self.local) = (stream, tls, address, role, local)
    (self.clock, self.share, self.unsent, self.unfinished) = (clock, share, unsent, unfinished)
    (self.admits, self.onEvent) = (admits, onEvent)
    direction = role == .listener ? .incoming : .outgoing
    (keepalive, openedAt) = (Keepalive(now: clock.now), clock.now)
  }

  func open() {
    // The stream holds its callbacks, and so keeps this link alive, until it is closed.
    stream.onRead = { bytes in AutomergeRepo.assumeIsolated { self.read(bytes) } }
    stream.onClose = { error in AutomergeRepo.assumeIsolated { self.closed(error) } }
    stream.onDrain = { AutomergeRepo.assumeIsolated { self.drained() } }
    timer = clock.schedule(after: PeerHandshake.timeout) { [weak self] in
      guard let self, self.peer == nil else { return }
      if self.handshake == nil { self.close(.handshake(.timedOut), politely: false) }
      self.perform(.timedOut)
    }
    if tls == nil { begin(with: nil) } else { encrypted { () throws(TLSError) in try self.advance() } }
    stream.resumeReading()
  }

  var isOpen: Bool { stream.isOpen && reason == nil }

  /// Sends in this turn. A peer for which too much waits is cut off.
  ///
  /// - Returns: false if the message is too long for a frame. It is dropped, and later ones are sent.
  @discardableResult
  func send(_ message: RepoMessage) -> Bool {
    guard isOpen else { return true }
    guard stream.queuedByteCount <= (isTrusted ? PeerLink.queueLimit : PeerLink.strangerQueueLimit) else {
      close(.unreachable(address, reason: "it does not read what it is sent"), politely: false)
      return true
    }
    guard let frame = try? Frame.encode(message.encoded()) else { return false }
    do {
      try write(frame)
      watchTransit()
      if peer != nil, unsentByteCount > PeerLink.crowdLimitOfMany { noteUnsent() }
    } catch {
      close(.unreachable(address, reason: "\(error)"), politely: false)
    }
    return true
  }

  /// Bytes that were sent and have not left this machine.
  var unsentByteCount: Int { stream.queuedByteCount }

  private func noteUnsent() {
    unsent?.added(by: self)
    guard isOpen, !saysCrowded else { return }
    if unsentByteCount > PeerLink.crowdLimit || unsent?.isMuch == true { sayCrowded() }
  }

  private func sayCrowded() {
    saysCrowded = true
    stream.loop.later { [weak self] in
      AutomergeRepo.assumeIsolated {
        guard let self, self.isOpen, self.saysCrowded else { return }
        self.onEvent(self, .crowded(true))
      }
    }
  }

  /// Checks regularly whether sent bytes arrive.
  private func watchTransit() {
    guard transitTimer == nil, peer != nil, isOpen, stream is TCPStream else { return }
    transitTimer = clock.schedule(after: Transit.interval) { [weak self] in
      guard let self, self.isOpen, let stream = self.stream as? TCPStream else { return }
      self.transitTimer = nil
      let waiting = stream.unacknowledgedByteCount.map { $0 + stream.queuedByteCount }
      let isAnswered = stream.retransmissionCount == 0
      if self.transit.look(waiting: waiting, isAnswered: isAnswered, at: self.clock.now) {
        self.onEvent(self, .stuck)
      }
      if let waiting, waiting > 0 { self.watchTransit() }
    }
  }

  /// Whether sent bytes had not arrived at the last check.
  var isStuck: Bool { transit.isStuck }

  private func write(_ bytes: [UInt8]) throws {
    guard let tls else { return try stream.write(bytes) }
    var rest = bytes[...]
    while !rest.isEmpty {
      try tls.write(rest.prefix(TLSSession.writeByteCount))
      try stream.write(tls.takeOutput())
      rest = rest.dropFirst(TLSSession.writeByteCount)
    }
  }

  /// - Parameter politely: sends what waits first, for a second at most.
  func close(_ reason: PeerNetworkError, politely: Bool = true) {
    guard self.reason == nil else { return }
    self.reason = reason
    if politely {
      tls?.finish()
      flush()
      stream.shutdownThenClose(within: .seconds(1))
    } else {
      stream.close()
    }
  }

  // MARK: From the stream

  private func read(_ bytes: UnsafeRawBufferPointer) {
    keepalive.heard(at: clock.now)
    defer { if !mayRead { stream.pauseReading() } }
    guard let tls else { return take(bytes) }
    encrypted { () throws(TLSError) in
      let start = MonotonicTime.now
      try tls.receive(bytes)
      try self.advance()
      self.restIfDue(since: start)
      while self.handshake != nil, self.isOpen, let plain = try tls.read() { self.take(plain) }
    }
  }

  /// Stops reading from a stranger that does not read our answers. Known peers are read on: two that each waited for the other
  /// to read would wait forever.
  private var isCrowded: Bool {
    !isTrusted && peer != nil && stream.queuedByteCount > PeerLink.strangerPauseLimit
  }

  private var mayRead: Bool { !isHeld && !isResting && !isCrowded }

  /// Handles what has arrived already, and resumes reading when nothing prevents it.
  private func goOn() {
    guard isOpen, !isHeld, !isResting else { return }
    dealWithFrames()
    if mayRead { stream.resumeReading() }
  }

  /// Rests if this link has taken more than its share of the time.
  private func restIfDue(since start: Duration) {
    guard let share, isOpen else { return }
    let now = MonotonicTime.now
    let isNew = peer == nil && direction == .incoming
    guard let rest = share.worked(now - start, by: &work, isNew: isNew, at: now), !isResting else { return }
    isResting = true
    let timer = try? stream.loop.after(rest) { [weak self] in
      AutomergeRepo.assumeIsolated {
        self?.isResting = false
        self?.goOn()
      }
    }
    if timer == nil { isResting = false }
  }

  private func drained() {
    guard isOpen else { return }
    if owesPong {
      owesPong = false
      answerPing()
    }
    if mayRead { stream.resumeReading() }
    if saysCrowded {
      saysCrowded = false
      onEvent(self, .crowded(false))
    }
  }

  private func answerPing() {
    if stream.queuedByteCount > 0 { owesPong = true } else { send(.other(type: "pong", fields: [:])) }
  }

  /// Runs a TLS operation, sends the resulting bytes, and closes the link on failure.
  private func encrypted(_ body: () throws(TLSError) -> Void) {
    do throws(TLSError) {
      try body()
      flush()
    } catch {
      flush()
      close(error == .wrongKey ? .handshake(.wrongPeer) : .insecure(error), politely: false)
    }
  }

  private func flush() {
    guard let output = tls?.takeOutput(), !output.isEmpty, stream.isOpen else { return }
    // A write that fails closes the stream, which is reported then.
    try? stream.write(output)
  }

  private func advance() throws(TLSError) {
    guard let tls, handshake == nil, try tls.advance() else { return }
    begin(with: tls.peerFingerprint.map { Identity.peerId(of: $0) })
  }

  /// - Parameter certified: the peer that the other side has proved to be.
  private func begin(with certified: PeerId?) {
    if let certified, !admits(certified) { return close(.stopped, politely: false) }
    handshake = PeerHandshake(role: role, local: local, certified: certified)
    perform(.opened)
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    frames.append(bytes)
    dealWithFrames()
    noteUnfinished()
  }

  /// The received bytes of unfinished messages.
  var unfinishedByteCount: Int { frames.bufferedByteCount }

  /// How many bytes of the unfinished long message arrive per second.
  func frameRate(at now: Duration) -> Double {
    unfinishedSince.map { Double(unfinishedByteCount) / max(1, (now - $0) / .seconds(1)) } ?? .infinity
  }

  private func noteUnfinished() {
    guard unfinishedByteCount > UnfinishedFrames.longByteCount else { return unfinishedSince = nil }
    unfinishedSince = unfinishedSince ?? clock.now
    unfinished?.grew(at: clock.now)
  }

  private func dealWithFrames() {
    do {
      while isOpen, !isHeld, !isResting, let body = try frames.next() {
        let start = MonotonicTime.now
        try receive(body)
        restIfDue(since: start)
      }
    } catch let error as FrameError {
      close(.unreachable(address, reason: "broken frame: \(error)"), politely: false)
    } catch {
      close(.handshake(.unexpectedMessage), politely: false)
    }
  }

  private func receive(_ body: [UInt8]) throws {
    let message: RepoMessage
    do {
      message = try RepoMessage(body)
    } catch {
      // One bad message of a known peer is dropped; a stranger gets no second chance.
      guard peer != nil else { throw error }
      return
    }
    switch message {
    case .other("ping", _) where peer != nil: answerPing()
    case .other("pong", _) where peer != nil: break
    default: perform(.received(message))
    }
  }

  private func perform(_ event: PeerHandshake.Event) {
    for effect in handshake?.receive(event) ?? [] {
      switch effect {
      case .send(let message):
        send(message)
      case .established(let peer, let metadata):
        (self.peer, self.metadata) = (peer, metadata)
        frames.skipsTooLong = true
        timer?.cancel()
        watch()
        onEvent(self, .established(peer, metadata))
      case .deliver(let message):
        onEvent(self, .received(message))
      case .close(let error):
        close(error.map { .handshake($0) } ?? .unreachable(address, reason: "the peer has left"))
      }
    }
  }

  /// Call when the other end may be gone: pings it, and gives it less time than usual to answer.
  func doubt() {
    guard isOpen, peer != nil else { return }
    keepalive.doubt(at: clock.now)
    send(.other(type: "ping", fields: [:]))
    timer?.cancel()
    watch()
  }

  private func watch() {
    timer = clock.schedule(after: keepalive.nextCheck(at: clock.now)) { [weak self] in
      guard let self, self.isOpen else { return }
      // Strangers need only answer pings. A known peer with a full receive window counts as alive.
      let isThere = self.isTrusted && self.isAnswered
      switch self.keepalive.check(at: self.clock.now, isThere: isThere) {
      case .ping?: self.send(.other(type: "ping", fields: [:]))
      case .dead?: return self.close(.unreachable(self.address, reason: "no sign of life"), politely: false)
      case nil: break
      }
      self.watch()
    }
  }

  /// This machine's address on the link; nil if unknown.
  var localHost: String? { (stream as? TCPStream)?.localAddress?.host }

  /// Whether the other machine acknowledges what it is sent, or reports a full window, whatever the program on it does.
  private var isAnswered: Bool {
    guard let stream = stream as? TCPStream, let count = stream.retransmissionCount else {
      return stream.queuedByteCount == 0 && (stream as? TCPStream)?.unacknowledgedByteCount == 0
    }
    return count == 0
  }

  private func closed(_ error: UVError?) {
    timer?.cancel()
    transitTimer?.cancel()
    let fallback = PeerNetworkError.unreachable(address, reason: error?.message ?? "the connection was closed")
    onEvent(self, .closed(reason ?? fallback))
  }
}
