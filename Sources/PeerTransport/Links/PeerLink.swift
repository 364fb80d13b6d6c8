import AutomergeRepo

/// One connection to a peer, over any transport: messages, the handshake, and signs of life.
///
///     proving ──the other end's proof──► handshaking ──established──► talking ──► closed
@AutomergeRepo
package final class PeerLink {
  /// An event for the link's provider. All but `proven` are sent outside of calls of the provider's.
  package enum Event {
    /// The other end has shown its proof, and has not been answered yet. The provider may close the link.
    case proven(PeerProof)
    case established(PeerId, PeerMetadata)
    case received(RepoMessage)
    /// Many sent bytes have not left this machine, or all of them have now.
    case crowded(Bool)
    /// Sent bytes do not arrive. Repeated until they do.
    case stalled
    /// The last event.
    case closed(LinkError)
  }

  package let openedAt: Duration
  /// The peer at the other end, also after it has gone.
  package private(set) var peer: PeerId?
  /// The other end's proof; nil until it is known.
  package var proof: PeerProof? { handshake.proof }
  /// Whether the peer may send long messages. A stranger needs none.
  package var isTrusted = false { didSet { limitMessages() } }

  private let transport: any Transport
  private let clock: any RepoClock
  private let unsent: UnsentBytes?
  private let onEvent: (PeerLink, Event) -> Void
  private var handshake: PeerHandshake
  /// The timeout of the handshake.
  private var deadline: (any ScheduledAction)?
  private var backPressure = BackPressure()
  private let intake: LinkIntake
  private let heartbeat: Heartbeat
  private let stalls: StallWatch
  private var end: LinkError?

  package init(
    _ transport: any Transport, as role: PeerHandshake.Role, local: LocalPeer, clock: any RepoClock,
    budgets: LinkBudgets = LinkBudgets(), pace: Keepalive.Pace = .peers,
    permits: @escaping PeerHandshake.Permission = { $0.permits($1) },
    onEvent: @escaping @AutomergeRepo (PeerLink, Event) -> Void
  ) {
    (self.transport, self.clock, unsent, self.onEvent) = (transport, clock, budgets.unsent, onEvent)
    (handshake, openedAt) = (PeerHandshake(role: role, local: local, permits: permits), clock.now)
    (intake, heartbeat) = (LinkIntake(budgets), Heartbeat(clock: clock, pace: pace))
    stalls = StallWatch(transport, clock: clock)
  }

  package func open() {
    deadline = clock.schedule(after: PeerHandshake.timeout) { [weak self] in
      guard let self, self.isOpen, self.peer == nil else { return }
      if self.handshake.isOpened { return self.perform(.timedOut) }
      self.close(.handshake(.timedOut), politely: false)
    }
    // The transport holds this callback, and so keeps the link alive, until it is closed.
    transport.open { event in self.handle(event) }
  }

  package var isOpen: Bool { transport.isOpen && end == nil }

  package var direction: LinkDirection { handshake.role == .listener ? .incoming : .outgoing }

  /// The link's rank among those to this peer; nil until established, and if one of the two sends no marks.
  package var rank: LinkRank? { handshake.rank }

  /// The only peer that a call was meant for; nil if any will do, or if the link is incoming.
  package var expectedPeer: PeerId? {
    if case .dialer(let expected) = handshake.role { expected } else { nil }
  }

  /// Sets what to say of a call. For a provider that has just been told of the proof.
  package func mark(_ call: CallMark) { handshake.mark(call) }

  /// The address of this machine that the link uses; nil if unknown.
  package var localHost: String? { transport.localHost }

  /// - Parameter politely: whether to send what waits first, for a second at most
  package func close(_ reason: LinkError, politely: Bool = true) {
    guard end == nil else { return }
    end = reason
    intake.noteUnfinished(byteCount: 0, at: clock.now)
    if politely { transport.finish() } else { transport.close() }
  }

  private func handle(_ event: TransportEvent) {
    switch event {
    case .proven(let proof):
      onEvent(self, .proven(proof))
      if isOpen { perform(.opened(proof)) }
    case .worked(let start):
      heartbeat.heard()
      worked(since: start)
      if !mayRead { transport.pauseReading() }
    case .received:
      heartbeat.heard()
      takeMessages()
      if isOpen { intake.noteUnfinished(byteCount: unfinishedByteCount, at: clock.now) }
      if !mayRead { transport.pauseReading() }
    case .drained: drained()
    case .closed(let error):
      deadline?.cancel()
      heartbeat.stop()
      stalls.stop()
      intake.noteUnfinished(byteCount: 0, at: clock.now)
      onEvent(self, .closed(end ?? error ?? .lost(reason: "the connection was closed")))
    }
  }

  // MARK: The handshake

  private func perform(_ event: PeerHandshake.Event) {
    for effect in handshake.receive(event) {
      switch effect {
      case .send(let message):
        send(message)
      case .established(let peer, let metadata):
        self.peer = peer
        limitMessages()
        deadline?.cancel()
        watch()
        onEvent(self, .established(peer, metadata))
      case .deliver(let message):
        onEvent(self, .received(message))
      case .close(let error):
        close(error.map { .handshake($0) } ?? .lost(reason: "the peer has left"))
      }
    }
  }

  private func limitMessages() {
    transport.limitMessages(
      to: isTrusted ? Frame.maximumByteCount : Frame.maximumByteCountBeforeHandshake, skipsLonger: peer != nil)
  }

  // MARK: Sending

  /// Sends in this turn. Cuts the peer off if too many bytes wait for it.
  ///
  /// - Returns: false if the message is too long for a frame. It is dropped; later ones are still sent.
  @discardableResult
  package func send(_ message: RepoMessage) -> Bool {
    guard isOpen else { return true }
    guard BackPressure.permits(unsentByteCount: unsentByteCount, isTrusted: isTrusted) else {
      close(.lost(reason: "it does not read what it is sent"), politely: false)
      return true
    }
    let body = message.encoded()
    guard body.count <= Frame.maximumByteCount else { return false }
    do {
      try transport.send(body)
    } catch {
      close(error, politely: false)
      return true
    }
    guard peer != nil else { return true }
    stalls.watch { [weak self] in
      if let self, self.isOpen { self.onEvent(self, .stalled) }
    }
    if unsentByteCount > BackPressure.crowdedByteCountAmongMany { noteUnsent() }
    return true
  }

  /// The bytes that were sent and have not left this machine.
  package var unsentByteCount: Int { transport.unsentByteCount }

  /// Whether sent bytes had not arrived at the last check.
  package var isStalled: Bool { stalls.isStalled }

  private func noteUnsent() {
    unsent?.added(by: self)
    guard isOpen, backPressure.crowds(unsentByteCount: unsentByteCount, isMuchForAll: unsent?.isMuch == true) else {
      return
    }
    _ = clock.schedule(after: .zero) { [weak self] in
      guard let self, self.isOpen, self.backPressure.isCrowded else { return }
      self.onEvent(self, .crowded(true))
    }
  }

  private func drained() {
    guard isOpen else { return }
    if backPressure.takeOwedPong() { answerPing() }
    if mayRead { transport.resumeReading() }
    if backPressure.takeCrowding() { onEvent(self, .crowded(false)) }
  }

  private func answerPing() {
    if backPressure.answersPing(unsentByteCount: unsentByteCount) { send(.other(type: "pong", fields: [:])) }
  }

  // MARK: Receiving

  /// Whether to stop handling messages, because earlier ones of the peer still wait.
  package var isHeld: Bool {
    get { intake.isHeld }
    set {
      guard newValue != isHeld else { return }
      intake.isHeld = newValue
      goOn()
    }
  }

  /// The received bytes of unfinished messages.
  package var unfinishedByteCount: Int { transport.unfinishedByteCount }

  /// Whether a long message is arriving.
  package var hasUnfinished: Bool { intake.unfinishedSince != nil }

  /// How many bytes of the unfinished long message arrive per second.
  package func frameRate(at now: Duration) -> Double {
    intake.unfinishedSince.map { Double(unfinishedByteCount) / max(1, (now - $0) / .seconds(1)) } ?? .infinity
  }

  private var mayRead: Bool {
    let isCrowded =
      peer != nil && BackPressure.pausesReading(unsentByteCount: unsentByteCount, isTrusted: isTrusted)
    return !intake.isPaused && !isCrowded
  }

  /// Handles what has already arrived, and resumes reading unless something prevents it.
  private func goOn() {
    guard isOpen, !intake.isPaused else { return }
    takeMessages()
    if isOpen { intake.noteUnfinished(byteCount: unfinishedByteCount, at: clock.now) }
    if mayRead { transport.resumeReading() }
  }

  private func worked(since start: Duration) {
    guard isOpen else { return }
    let isNew = peer == nil && direction == .incoming
    intake.worked(since: start, isNew: isNew) { [weak self] in self?.goOn() }
  }

  private func takeMessages() {
    do {
      while isOpen, !intake.isPaused, let body = try transport.nextMessage() {
        let start = intake.workTime
        try receive(body)
        worked(since: start)
      }
    } catch let error as FrameError {
      close(.lost(reason: "broken frame: \(error)"), politely: false)
    } catch {
      close(.handshake(.unexpectedMessage), politely: false)
    }
  }

  private func receive(_ body: [UInt8]) throws {
    let message: RepoMessage
    do {
      message = try RepoMessage(body)
    } catch {
      // One bad message is dropped; before the handshake is done, it ends the link.
      guard peer != nil else { throw error }
      return
    }
    switch message {
    case .other("ping", _) where peer != nil: answerPing()
    case .other("pong", _) where peer != nil: break
    default: perform(.received(message))
    }
  }

  // MARK: Signs of life

  /// Call when the other end is believed to be gone: pings it, and gives it less time than usual to answer.
  package func probe() {
    if isOpen { heartbeat.probe() }
  }

  private func watch() {
    guard !transport.isWithinMachine else { return }
    heartbeat.start(
      // Strangers need only answer pings. A known peer with a full receive window counts as alive.
      isThere: { [weak self] in self.map { $0.isTrusted && $0.transport.delivery?.isAnswered ?? false } ?? false },
      act: { [weak self] effect in
        guard let self, self.isOpen else { return }
        switch effect {
        case .ping:
          if !self.transport.ping() { self.send(.other(type: "ping", fields: [:])) }
        case .dead: self.close(.lost(reason: "no sign of life"), politely: false)
        }
      })
  }
}
