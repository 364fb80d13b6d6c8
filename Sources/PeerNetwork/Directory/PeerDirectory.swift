import AutomergeRepo
import Foundation
import Logging
import PeerTransport

/// The facade of the parts of the network that concern people. Each part owns its state.
///
///     PeerRegistry          the peers that are known or near: trust, names, addresses
///     Grants                each peer's access, and the documents that belong to another host
///     LinkKeeper            which peers are called
///     Reachability          listening, announcing, discovery, this machine's network
///     TicketIssuer          tickets given out;  TicketHolder: tickets presented
///     InvitationExchange    invitations of both sides
///     Admissions            what hosts share with us
///     GuestIntroductions    what a host tells its guests of each other
///     DocumentMover         documents that continue without a guest
///     TrustDecisions        this person's decisions about peers
///     PeerNews              which news the person sees, and how often
///
/// The directory passes them the events and messages of the repo.
///
/// Make a `Repo` with `Grants` as its policy, `add` the provider to it, then `open` the directory and `listen`.
@AutomergeRepo
public final class PeerDirectory {
  public let repo: Repo
  public var grants: Grants { registry.grants }
  /// Called for every event to tell the person about.
  public var onEvent: (@AutomergeRepo (SharingEvent) -> Void)? {
    get { news.onEvent }
    set { news.onEvent = newValue }
  }

  let provider: TCPProvider
  let registry: PeerRegistry
  let links: LinkKeeper
  let news: PeerNews
  let reachability: Reachability
  let admissions: Admissions
  let guests: GuestIntroductions
  let tickets: TicketIssuer
  let joins: TicketHolder
  let invitations: InvitationExchange
  let mover: DocumentMover
  let trust: TrustDecisions
  var random: RandomSource

  /// Reads the stored peers and grants, and starts to call the peers with which something is shared.
  public static func open(
    repo: Repo, provider: TCPProvider, grants: Grants, storage: any StorageProvider,
    random: RandomSource = RandomSource(), logger: Logger = Logger(label: "peers")
  ) async throws(StorageError) -> PeerDirectory {
    let store = PeerStore(storage: storage, logger: logger)
    let (ticketsKey, invitationsKey, movesKey) = (KnownPeer.ticketsKey, KnownPeer.invitationsKey, DocumentMove.key)
    async let tickets = Result { () async throws(StorageError) in try await storage.record(at: ticketsKey) }
    async let invitations = Result { () async throws(StorageError) in try await storage.record(at: invitationsKey) }
    async let moves = Result { () async throws(StorageError) in try await storage.records(under: [movesKey]) }
    let registry = try await PeerRegistry.load(from: store, grants: grants, network: repo)
    let book = try await tickets.get().map { TicketBook(record: $0, decided: grants.decided) } ?? TicketBook()
    let budget = try await invitations.get().map {
      OfferBudget(record: $0, now: repo.clock.now, date: repo.clock.date)
    }
    var history = MoveHistory()
    for (key, record) in try await moves.get() {
      if key.last.flatMap({ DocumentId($0) }) != nil, let move = DocumentMove(record: record) { history.record(move) }
    }
    let directory = PeerDirectory(
      repo, provider, registry, store, random, book: book, budget: budget ?? OfferBudget(), history: history)
    directory.begin()
    return directory
  }

  private init(
    _ repo: Repo, _ provider: TCPProvider, _ registry: PeerRegistry, _ store: PeerStore, _ random: RandomSource,
    book: TicketBook, budget: OfferBudget, history: MoveHistory
  ) {
    let grants = registry.grants
    (self.repo, self.provider, self.registry, self.random) = (repo, provider, registry, random)
    links = LinkKeeper(provider, registry, grants, clock: repo.clock)
    news = PeerNews(registry, clock: repo.clock)
    reachability = Reachability(provider, registry, links, news, store, random: random)
    admissions = Admissions(repo, grants, registry, links, news, store)
    guests = GuestIntroductions(repo, grants, registry, links, admissions, news, store)
    tickets = TicketIssuer(book, repo, grants, registry, links, guests, news, store)
    joins = TicketHolder(provider, registry, links, admissions, guests)
    invitations = InvitationExchange(
      budget, repo, grants, registry, provider, links, admissions, guests, news, store)
    mover = DocumentMover(
      history, repo, grants, registry, links, admissions, guests, tickets, invitations, news, store)
    trust = TrustDecisions(repo, registry, provider, admissions, guests, tickets, invitations, news, store)
  }

  private func begin() {
    provider.policy.isKnown = { [weak self] peer in self?.registry.isTrusted(peer) ?? false }
    provider.policy.isNearby = { [weak self] peer in self?.registry.nearby[peer]?.addresses.isEmpty == false }
    provider.policy.isAwaited = { [weak self] peer in self?.isAwaited(peer) ?? false }
    provider.policy.introducer = { [weak self] peer in self?.registry.introducer(of: peer) }
    provider.policy.isBlocked = { [weak self] peer in self?.registry.isBlocked(peer) ?? false }
    repo.observe { [weak self] event in self?.receive(event) }
    hearMessages()
    for (peer, metadata) in repo.peers where Self.isPerson(peer) { connected(peer, metadata) }
    watchForStalls()
    reachability.watchForSleep()
    for handle in repo.handles { guests.watch(handle) }
    links.start()
  }

  private func hearMessages() {
    for type in [InviteMessage.inviteType, InviteMessage.answerType] {
      hear(type) { directory, fields, peer in
        let nonce = directory.random.bytes(InviteMessage.nonceByteCount)
        directory.invitations.receive(type, fields, from: peer, nonce: nonce)
      }
    }
    hear(TicketMessage.type) { directory, fields, peer in directory.receive(TicketMessage(fields: fields), from: peer) }
    hear(GuestList.type) { directory, fields, peer in directory.guests.receive(GuestList(fields: fields), from: peer) }
    hear(DocumentMove.type) { directory, fields, peer in directory.mover.receive(fields, from: peer) }
    hear("name") { directory, fields, peer in
      if let name = fields["name"]?.text { directory.note(name: name, of: peer) }
    }
  }

  /// Takes a type of message, unless a blocked peer sends it: the end of its link may still be on its way.
  private func hear(
    _ type: String, _ receive: @escaping @AutomergeRepo (PeerDirectory, [String: CBOR], PeerId) -> Void
  ) {
    repo.onMessage(ofType: type) { [weak self] fields, peer in
      guard let self, Self.isPerson(peer), !self.registry.isBlocked(peer) else { return }
      receive(self, fields, peer)
    }
  }

  /// Whether a peer of the repo belongs to a key, as people do. Peers of other networks cannot be invited, or hold
  /// tickets.
  private static func isPerson(_ peer: PeerId) -> Bool { Identity.fingerprint(of: peer) != nil }

  /// Source: PeerProtocol.md, "Staying connected".
  static let stallCheckPause: Duration = .seconds(30)

  private func watchForStalls() {
    _ = repo.clock.schedule(after: Self.stallCheckPause) { [weak self] in
      self?.repo.checkForStalls()
      self?.watchForStalls()
    }
  }

  // MARK: Listening and discovery

  /// The addresses where peers can reach us; nil if they cannot.
  public var listening: PeerAddress? { provider.listening }

  /// Why peers cannot reach us; nil when they can.
  public var listenProblem: PeerNetworkError? { reachability.listenProblem }

  /// Nil unless `startDiscovery` was called.
  public var discovery: MulticastDiscovery? { reachability.discovery }

  /// Listens on `HOST:PORT`. Port 0 means the last run's port if it is free, so that peers find us again; otherwise
  /// any.
  @discardableResult
  public func listen(at text: String) async throws(PeerNetworkError) -> PeerAddress {
    try await reachability.listen(at: text)
  }

  /// Announces us on the local network, at our listening port, and looks for peers there.
  public func startDiscovery() { reachability.startDiscovery() }

  /// Withdraws the announcement, until `startDiscovery` is called again.
  public func hide() { reachability.hide() }

  /// Watches this machine's network from now on.
  public func watchNetwork() { reachability.watchNetwork() }

  /// Withdraws the announcement and stops looking for peers.
  public func stopDiscovery() { reachability.stop() }

  /// Applies a change that discovery reports.
  public func discovered(_ change: NearbyPeers.Change) { reachability.discovered(change) }

  // MARK: Peers

  /// How many messages were sent to peers since the start, not counting pings.
  public var sentCount: Int { provider.sentCount }

  /// All peers that are connected or nearby, that we have met, or with which something is shared; sorted by name.
  public var peers: [PeerSummary] {
    let connected = repo.peers.filter { Self.isPerson($0.key) }
    return Set(connected.keys).union(grants.allPeers).union(registry.nearby.keys).union(registry.decided).map { peer in
      PeerSummary(
        peer: peer, name: name(of: peer), fingerprint: peer.description, state: state(of: peer),
        isConnected: connected[peer] != nil,
        via: (provider.address(of: peer) ?? registry.addresses(of: peer).first)?.description ?? "",
        notes: grants.documents(for: peer))
    }.sorted { ($0.name, $0.peer) < ($1.name, $1.peer) }
  }

  private func state(of peer: PeerId) -> PeerSummary.State {
    if registry.isBlocked(peer) { return .blocked }
    if invitations.isPending(with: peer) { return .invitationPending }
    if provider.isConnected(peer), registry.isTrusted(peer) { return .connected }
    if invitations.hasDeclined(peer) { return .rejected }
    if registry.isTrusted(peer) { return .known }
    return registry.nearby[peer] == nil && provider.isConnected(peer) ? .connected : .nearby
  }

  /// Whether an answer is due between this person and the peer, known or not.
  private func isAwaited(_ peer: PeerId) -> Bool { joins.isAwaited(peer) || invitations.isOpen(with: peer) }

  /// Stores this person's decision about a peer.
  ///
  /// A trusted peer needs no digits again. A blocked one gets no answers, and a forgotten one becomes a stranger; both
  /// lose everything that was shared with them and has not been sent.
  public func setTrust(_ trust: PeerTrust, of peer: PeerId, name: String? = nil) async throws(StorageError) {
    try await self.trust.decide(trust, about: peer, name: name)
  }

  /// The name to show for a peer: its stored name, if we have met; otherwise the one it claims, shortened, or the
  /// beginning of its id. A peer that claims the name of another peer that we have met is marked with its id.
  public func name(of peer: PeerId) -> String { registry.name(of: peer) }

  /// The same for a peer that claims this name with its caret; nil if it is blocked.
  public func name(of peer: PeerId, claiming claim: String) -> String? { registry.name(of: peer, claiming: claim) }

  public func standing(of peer: PeerId) -> PeerStanding {
    registry.hasMet(peer) ? .met : grants.documents(for: peer).isEmpty ? .stranger : .introduced
  }

  /// The stored name of the person who writes as this author, if we have met; what other peers call them does not matter.
  ///
  /// - Parameter author: the first `Identity.personByteCount` bytes of a fingerprint
  /// - Complexity: O(n) in the known peers.
  public func metName(ofAuthor author: [UInt8]) -> String? { registry.metName(ofAuthor: author) }

  /// Whether this peer's name is also used by another: by a peer that we have met, or by one that is here now.
  public func isNameShared(by peer: PeerId) -> Bool {
    registry.isNameShared(by: peer, inviters: receivedInvitations.map(\.peer))
  }

  /// The digits by which two people can verify at any time that each has the other's true key; nil if the id is not a
  /// peer's.
  public func verificationCode(with peer: PeerId) -> String? {
    guard let own = Identity.fingerprint(of: repo.peerId), let other = Identity.fingerprint(of: peer) else {
      return nil
    }
    return VerificationCode.digits(own, other)
  }

  /// Our access to a document: what its host has granted, `write` for our own.
  public func ownAccess(to document: DocumentId) -> Access { grants.ownAccess(to: document) }

  /// Calls an address, and keeps calling until `disconnect` or the end of the program.
  public func connect(address text: String) async throws(PeerNetworkError) -> PeerId {
    guard let address = PeerAddress(text) else { throw .badAddress(text) }
    let peer = try await provider.connect(to: address)
    provider.keepConnected(to: peer, at: [address])
    return peer
  }

  /// Closes the connection and does not call the peer again before the next start, join or `connect`.
  public func disconnect(_ peer: PeerId) {
    provider.forget(peer)
    provider.disconnect(peer)
  }

  /// The name that peers see. Setting it tells connected peers at once.
  public func rename(_ name: String) {
    var metadata = repo.metadata
    metadata.name = name
    repo.update(metadata)
    provider.update(metadata)
    reachability.announce()
    for peer in repo.peers.keys where Self.isPerson(peer) {
      repo.send(type: "name", fields: ["name": .text(name)], to: peer)
    }
  }

  private func receive(_ event: Repo.Event) {
    switch event {
    case .peerConnected(let peer, let metadata) where Self.isPerson(peer): connected(peer, metadata)
    case .peerDisconnected(let peer) where Self.isPerson(peer):
      news.tell(.offline(peer, name: name(of: peer)), ofArrivalOf: peer)
      guests.linkEnded(peer)
      invitations.linkEnded(peer)
      joins.linkEnded(peer)
      // Nothing is stored about a stranger, unless this person is to answer its invitation.
      if !registry.isTrusted(peer), !registry.isBlocked(peer),
        !receivedInvitations.contains(where: { $0.peer == peer })
      {
        registry.dropStranger(peer)
      }
    case .documentOpened(let handle): guests.watch(handle)
    case .peerConnected, .peerDisconnected, .documentDeleted, .documentReleased, .siblingConnected,
      .siblingDisconnected:
      break
    }
  }

  private func connected(_ peer: PeerId, _ metadata: PeerMetadata) {
    if registry.isTrusted(peer) {
      links.rememberTrusted(peer, name: metadata.name, addresses: PeerRegistry.addresses(in: metadata))
    }
    news.tell(.online(peer, name: name(of: peer)), ofArrivalOf: peer)
    news.warnOfNamesake(peer)
    invitations.connected(to: peer)
    mover.tellOfMoves(to: peer)
    guests.tellOfDismissals(peer)
    joins.connected(to: peer)
  }

  /// A peer has changed its name.
  private func note(name: String, of peer: PeerId) {
    guard let name = KnownPeer.clean(name) else { return }
    let before = self.name(of: peer)
    if registry.isTrusted(peer) {
      links.rememberTrusted(peer, name: name, addresses: [])
    } else if repo.peers[peer] != nil {
      registry.claims(name, by: peer)
    }
    let now = self.name(of: peer)
    if now != before { news.tell(.networkState, ofArrivalOf: peer) }
  }
}
