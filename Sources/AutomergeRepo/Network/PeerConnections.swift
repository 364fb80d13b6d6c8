import Automerge
import Logging

/// The connected peers of a repo, and the providers that reach them.
@AutomergeRepo
package final class PeerConnections {
  /// A connected peer, and the provider that reaches it.
  private struct Connection {
    let provider: any NetworkProvider
    let peer: ConnectedPeer
    /// Where the peer keeps its documents; nil if it keeps none, does not say, or shares our store.
    let store: StorageId?
    /// How many of the peer's violations were logged.
    var complaintCount = 0
    /// How many bytes of its messages wait to be handled, and whether reading is paused because of them.
    var waitingByteCount = 0
    var isHeld = false
    /// Whether many bytes wait to be sent to the peer.
    var isCrowded = false
    /// The documents that the peer was on when they were released, and that the policy does not announce to it.
    var released: Set<DocumentId> = []
    /// The documents that it offered and may not create.
    var declined: Set<DocumentId> = []
    /// The last heads that the peer sent of documents that have been released since.
    var heads: [DocumentId: Set<ChangeHash>] = [:]
  }

  private enum Stage { case open, leaving, stopped }

  /// When more bytes than this from one peer wait to be handled, the repo reads nothing from it until less than half of
  /// them wait. Source: PeerProtocol.md, "Expensive changes".
  static let maximumWaitingBytes = 1 << 20
  /// When peers of which each has more than `maximumWaitingBytes` waiting exceed this together, one is disconnected.
  /// Source: PeerProtocol.md, "Expensive changes".
  static let maximumWaitingBytesOfAll = 96 << 20
  /// When a peer is on this many released documents, its other documents stay in memory.
  static let maximumReleased = 1 << 16
  /// The heads of this many released documents are remembered for a peer.
  static let maximumHeads = 1 << 12
  /// How many documents that a peer offered in vain are remembered: it is told once another peer has brought one.
  private static let maximumDeclined = 1 << 12
  private static let maximumComplaints = 10

  /// How this repo introduces itself to peers.
  private(set) var local: LocalPeer
  /// Called before anything is sent.
  var beforeSending: (@AutomergeRepo () -> Void)?
  /// Whether the repo takes what peers send. Not any more when it is about to leave the network.
  var isReceiving = true
  /// How far the repo is in leaving the network for good.
  private var stage = Stage.open
  /// The ephemeral messages of this run of the program.
  var ephemeral: EphemeralStream
  /// Decides whose large message is read next.
  private(set) lazy var turns = IncomingTurns(clock: clock) { [weak self] in self?[$0]?.proof }
  private let clock: any RepoClock
  private let logger: Logger
  private var providers: [any NetworkProvider] = []
  private var connections: [PeerId: Connection] = [:]
  /// How many connected peers have named their stores.
  private(set) var storeCount = 0
  /// The connected peers in order, until the next one connects or leaves.
  private var order: [PeerId]?
  /// What the program does with messages of its own types.
  private var handlers: [String: @AutomergeRepo ([String: CBOR], PeerId) -> Void] = [:]

  nonisolated init(local: LocalPeer, sessionId: String, clock: any RepoClock, logger: Logger) {
    (self.local, self.clock, self.logger) = (local, clock, logger)
    ephemeral = EphemeralStream(sessionId: sessionId)
  }

  // MARK: Providers

  /// Whether the repo is about to leave the network, or has left it.
  var isLeaving: Bool { stage != .open }
  /// Whether the repo has left the network for good.
  var isStopped: Bool { stage == .stopped }

  /// Starts a network. Does nothing if it is in use already, or the repo is shut down.
  func add(_ provider: any NetworkProvider, delegate: any NetworkDelegate) {
    guard !isLeaving, !providers.contains(where: { $0 === provider }) else { return }
    providers.append(provider)
    provider.start(as: local, delegate: delegate)
  }

  /// Takes no further networks. Those in use go on until `stop`.
  func leave() { if stage == .open { stage = .leaving } }

  func stop() {
    stage = .stopped
    for provider in providers { provider.stop() }
  }

  /// Sets how networks that are added from now on introduce this repo.
  func update(_ metadata: PeerMetadata) { local.metadata = metadata }

  // MARK: Peers

  func opened(_ peer: PeerId, _ metadata: PeerMetadata, by provider: any NetworkProvider) {
    closed(peer)
    let store = provider.isSiblings || metadata.isEphemeral ? nil : metadata.storageId
    if store != nil { storeCount += 1 }
    connections[peer] = Connection(
      provider: provider, peer: ConnectedPeer(id: peer, metadata: metadata, proof: provider.proof(of: peer)),
      store: store)
  }

  func closed(_ peer: PeerId) {
    if connections.removeValue(forKey: peer)?.store != nil { storeCount -= 1 }
    order = nil
  }

  /// The connected peers, siblings among them, in order.
  var all: [PeerId] {
    if let order { return order }
    let sorted = connections.keys.sorted()
    order = sorted
    return sorted
  }

  /// Whether a peer's large message is being read on another thread.
  package var isReading: Bool { turns.isReading }

  // MARK: Released documents

  /// Records that these peers were on a document that is about to be released. False if one of them has too many
  /// already.
  func release(_ document: DocumentId, of peers: [PeerId]) -> Bool {
    guard peers.allSatisfy({ (connections[$0]?.released.count ?? 0) < Self.maximumReleased }) else { return false }
    for peer in peers { connections[peer]?.released.insert(document) }
    return true
  }

  /// Records that these peers have a document that was not taken from them.
  func decline(_ document: DocumentId, of peers: [PeerId]) {
    for peer in peers where connections[peer]?.declined.count ?? 0 < Self.maximumDeclined {
      connections[peer]?.declined.insert(document)
    }
  }

  /// The documents that a peer offered in vain, in order.
  func declined(of peer: PeerId) -> [DocumentId] { connections[peer]?.declined.sorted() ?? [] }

  /// The connected peers that offered the document in vain, in order.
  func holders(of document: DocumentId) -> [PeerId] {
    all.filter { connections[$0]?.declined.contains(document) ?? false }
  }

  /// Records the last heads that these peers sent of a document that is about to be released. A peer that lacks nothing does not
  /// send them again when the document is loaded.
  func remember(_ heads: Set<ChangeHash>, of document: DocumentId, from peers: [PeerId]) {
    for peer in peers where connections[peer]?.heads.count ?? 0 < Self.maximumHeads {
      connections[peer]?.heads[document] = heads
    }
  }

  /// What a peer sent last on this connection, if the document has been released since. Forgets it.
  func takeHeads(of document: DocumentId, from peer: PeerId) -> Set<ChangeHash>? {
    connections[peer]?.heads.removeValue(forKey: document)
  }

  /// The connected peers that were on the document when it was released, or offered it in vain, in order. Forgets that they were.
  func resume(_ document: DocumentId) -> [PeerId] {
    all.filter { peer in
      let (released, declined) = (
        connections[peer]?.released.remove(document), connections[peer]?.declined.remove(document)
      )
      return released != nil || declined != nil
    }
  }

  // MARK: Connections

  /// The connected peers with what they say about themselves, without other processes of this person.
  var peers: [PeerId: PeerMetadata] {
    connections.filter { !$0.value.provider.isSiblings }.mapValues(\.peer.metadata)
  }

  /// The same peers with what they have proved, in order.
  var connectedPeers: [ConnectedPeer] {
    connections.values.filter { !$0.provider.isSiblings }.map(\.peer).sorted { $0.id < $1.id }
  }

  /// What is known of a connected peer, sibling or not; nil if it is not connected.
  subscript(peer: PeerId) -> ConnectedPeer? { connections[peer]?.peer }

  /// The connected processes of the same person on the same store.
  var siblings: [PeerId] { connections.filter { $0.value.provider.isSiblings }.keys.sorted() }

  func isConnected(_ peer: PeerId) -> Bool { connections[peer] != nil }

  func isConnected(_ peer: PeerId, by provider: any NetworkProvider) -> Bool {
    connections[peer]?.provider === provider
  }

  func isSibling(_ peer: PeerId) -> Bool { connections[peer]?.provider.isSiblings ?? false }

  /// Where a peer keeps its documents; nil if it keeps none, does not say, or shares our store.
  func store(of peer: PeerId) -> StorageId? { connections[peer]?.store }

  func isCrowded(_ peer: PeerId) -> Bool { connections[peer]?.isCrowded ?? false }

  func setCrowded(_ isCrowded: Bool, _ peer: PeerId) { connections[peer]?.isCrowded = isCrowded }

  func disconnect(_ peer: PeerId) { connections[peer]?.provider.disconnect(peer) }

  // MARK: Messages

  /// Sends a message; it is dropped if the peer is not connected.
  func send(_ message: RepoMessage, to peer: PeerId) {
    beforeSending?()
    connections[peer]?.provider.send(message, to: peer)
  }

  func handle(_ type: String, _ handler: @escaping @AutomergeRepo ([String: CBOR], PeerId) -> Void) {
    handlers[type] = handler
  }

  /// A message of a type that the repo does not know.
  func received(_ type: String, _ fields: [String: CBOR], from peer: PeerId) { handlers[type]?(fields, peer) }

  /// Adds to the bytes of a peer's messages that wait to be handled. Reading from the peer pauses while there are too
  /// many. A peer is disconnected if there are too many of all peers together.
  func hold(_ byteCount: Int, of peer: PeerId) {
    guard let connection = connections[peer] else { return }
    let count = max(0, connection.waitingByteCount + byteCount)
    connections[peer]?.waitingByteCount = count
    let isHeld = connection.isHeld ? count > Self.maximumWaitingBytes / 2 : count > Self.maximumWaitingBytes
    // What is added never lets the peer send more.
    if isHeld != connection.isHeld, isHeld || byteCount <= 0 {
      connections[peer]?.isHeld = isHeld
      connection.provider.setReading(!isHeld, from: peer)
    }
    if byteCount > 0, isHeld { limitWaiting() }
  }

  /// Subtracts from them. Reading does not resume before the next `hold`: what the peer has sent later must not overtake
  /// what is being handled.
  func release(_ byteCount: Int, of peer: PeerId) {
    guard let count = connections[peer]?.waitingByteCount else { return }
    connections[peer]?.waitingByteCount = max(0, count - byteCount)
  }

  /// Disconnects peers while too many bytes wait: first a peer in debt, then the one of which most bytes wait. It
  /// reconnects and sends again what was not taken.
  private func limitWaiting() {
    var held = connections.filter { $0.value.isHeld && !$0.value.provider.isSiblings }.mapValues(\.waitingByteCount)
    func rank(_ peer: PeerId, _ byteCount: Int) -> (Int, Int, PeerId) {
      (turns.isInDebt(peer) ? 1 : 0, byteCount, peer)
    }
    while held.values.reduce(0, +) > Self.maximumWaitingBytesOfAll {
      guard let peer = held.max(by: { rank($0.key, $0.value) < rank($1.key, $1.value) })?.key else { return }
      held[peer] = nil
      complain(of: peer, "is disconnected: too many bytes of its messages wait")
      disconnect(peer)
    }
  }

  /// Logs a peer's violations, at most a few times per connection, so that a hostile peer cannot fill the disk.
  func complain(of peer: PeerId, _ what: String) {
    guard let count = connections[peer]?.complaintCount, count < Self.maximumComplaints else { return }
    connections[peer]?.complaintCount = count + 1
    let isLast = count + 1 == Self.maximumComplaints
    logger.warning("\(peer) \(what)\(isLast ? "; its further violations are not logged" : "")")
  }
}
