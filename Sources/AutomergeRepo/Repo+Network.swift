import Automerge
import Foundation
import Logging

/// A connected peer, and the provider that reaches it.
struct Connection {
  let provider: any NetworkProvider
  let metadata: PeerMetadata
  /// How many of its violations were logged.
  var complaintCount = 0
  /// How much of its messages waits, and whether reading is paused because of that.
  var waitingByteCount = 0
  var isHeld = false
  /// Much waits to be sent to it.
  var isCrowded = false
}

extension Repo {
  /// Starts to use a network, for the life of the repo.
  public func add(_ network: any NetworkProvider) {
    networks.append(network)
    network.start(as: LocalPeer(peerId: peerId, metadata: metadata), delegate: self)
  }

  /// The connected peers, with what they tell about themselves. Other processes of this person are not among them.
  public var peers: [PeerId: PeerMetadata] {
    connections.filter { !$0.value.provider.isSiblings }.mapValues(\.metadata)
  }

  /// The connected processes of the same person on the same store.
  public var siblings: [PeerId] { connections.filter { $0.value.provider.isSiblings }.keys.sorted() }

  func isSibling(_ peer: PeerId) -> Bool { connections[peer]?.provider.isSiblings ?? false }

  /// A peer's access to a document.
  func access(_ document: DocumentId, for peer: PeerId) -> Access {
    isSibling(peer) ? .write : policy.access(document, for: peer)
  }

  func announces(_ document: DocumentId, to peer: PeerId) -> Bool {
    isSibling(peer) || policy.announce(document, to: peer)
  }

  /// Calls `handler` with the fields of each message of a type that the repo does not know itself.
  public func onMessage(
    ofType type: String, _ handler: @escaping @AutomergeRepo ([String: CBOR], PeerId) -> Void
  ) {
    handlers[type] = handler
  }

  /// Sends a message of a program's own type. It is dropped if the peer is not connected.
  public func send(type: String, fields: [String: CBOR], to peer: PeerId) {
    var fields = fields
    fields["senderId"] = .text(peerId.description)
    fields["targetId"] = .text(peer.description)
    transmit(.other(type: type, fields: fields), to: peer)
  }

  /// How networks that are added from now on introduce us.
  public func update(_ metadata: PeerMetadata) { self.metadata = metadata }

  public func disconnect(_ peer: PeerId) {
    connections[peer]?.provider.disconnect(peer)
  }

  /// Evaluates the share policy again, for one document or for all, and begins or ends sharing accordingly.
  public func policyChanged(for document: DocumentId? = nil) {
    for (id, slot) in slots.sorted(by: { $0.key.description < $1.key.description }) {
      guard document == nil || document == id, let handle = slot.handle else { continue }
      let linked = handle.sync.linkedPeers
      for peer in linked { handle.receive(.accessChanged(peer, access(id, for: peer))) }
      for peer in connections.keys.sorted() where !linked.contains(peer) { introduce(peer, to: handle) }
    }
  }

  /// Repairs syncs that a lost message has stopped; call at regular intervals. A document whose heads differ from a peer's,
  /// when neither's have changed since the last call, is compared with that peer anew.
  public func checkForStalls() {
    defer { compareCatalogues() }
    for slot in slots.values.sorted(by: { $0.id.description < $1.id.description }) {
      slot.handle?.receive(.checked)
      slot.handle?.signatures.checked()
    }
  }

  /// Announces a document to a peer, or asks the peer for it, if the policy allows.
  func introduce(_ peer: PeerId, to handle: DocHandle) {
    guard announces(handle.id, to: peer) else { return }
    handle.receive(.connected(peer, access: access(handle.id, for: peer)))
    if connections[peer]?.isCrowded == true { handle.receive(.crowded(peer, true)) }
  }

  // MARK: Sending

  func transmit(_ message: RepoMessage, to peer: PeerId) {
    beforeSending?()
    connections[peer]?.provider.send(message, to: peer)
  }

  func send(_ payload: DocumentSync.Payload, on id: DocumentId, to peer: PeerId) {
    switch payload {
    case .sync(let data):
      transmit(.sync(.init(senderId: peerId, targetId: peer, documentId: id, data: data)), to: peer)
    case .request(let data):
      transmit(.request(.init(senderId: peerId, targetId: peer, documentId: id, data: data)), to: peer)
    case .unavailable:
      transmit(.docUnavailable(senderId: peerId, targetId: peer, documentId: id), to: peer)
    }
  }

  func broadcast(_ data: Data, on handle: DocHandle) {
    ephemeralCount += 1
    for peer in handle.peers where !handle.idlePeers.contains(peer) && connections[peer]?.isCrowded != true {
      let message = RepoMessage.EphemeralMessage(
        senderId: peerId, targetId: peer, documentId: handle.id, count: ephemeralCount, sessionId: sessionId, data: data
      )
      transmit(.ephemeral(message), to: peer)
    }
  }

  /// Logs a peer's violations, at most a few times per connection, so that a hostile peer cannot fill the disk.
  public func complain(of peer: PeerId, _ what: String) {
    guard let count = connections[peer]?.complaintCount, count < Repo.mostComplaints else { return }
    connections[peer]?.complaintCount = count + 1
    let isLast = count + 1 == Repo.mostComplaints
    logger.warning("\(peer) \(what)\(isLast ? "; the log says no more of it" : "")")
  }

  private static let mostComplaints = 10

  func refused(_ refusal: DocumentSync.Refusal, from peer: PeerId, on handle: DocHandle) {
    switch refusal {
    case .readOnly: handle.deliver(.refusedChanges(from: peer))
    case .malformed: complain(of: peer, "sent a malformed sync message for \(handle.id)")
    case .rejected(let reason): complain(of: peer, "sent changes for \(handle.id) that were refused: \(reason)")
    }
  }
}

// MARK: Receiving

extension Repo: NetworkDelegate {
  public func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    if connections[peer] != nil { forget(peer) }
    connections[peer] = Connection(provider: provider, metadata: metadata)
    observers.send(provider.isSiblings ? .siblingConnected(peer) : .peerConnected(peer, metadata))
    for slot in slots.values.sorted(by: { $0.id.description < $1.id.description }) {
      if let handle = slot.handle { introduce(peer, to: handle) }
    }
    if !provider.isSiblings { beginComparing(with: peer) }
  }

  public func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {
    guard connections[peer]?.provider === provider else { return }
    forget(peer)
  }

  private func forget(_ peer: PeerId) {
    let wasSibling = isSibling(peer)
    connections[peer] = nil
    gate.forget(peer)
    comparisons[peer] = nil
    for slot in slots.values.sorted(by: { $0.id.description < $1.id.description }) {
      slot.handle?.receive(.disconnected(peer))
    }
    observers.send(wasSibling ? .siblingDisconnected(peer) : .peerDisconnected(peer))
  }

  public func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {
    guard connections[peer]?.provider === provider else { return }
    connections[peer]?.isCrowded = isCrowded
    for slot in slots.values.sorted(by: { $0.id.description < $1.id.description }) {
      slot.handle?.receive(.crowded(peer, isCrowded))
    }
  }

  public func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    guard connections[peer]?.provider === provider else { return }
    switch message {
    case .request(let message):
      receive(.request(message.data), on: message.documentId, from: peer)
    case .sync(let message):
      receive(.sync(message.data), on: message.documentId, from: peer)
    case .docUnavailable(_, _, let id):
      slots[id]?.handle?.receive(.received(.unavailable, from: peer, access: .none))
    case .ephemeral(let message):
      receive(message, from: peer)
    case .other(let type, let fields):
      if let kind = OwnMessage(rawValue: type) {
        receive(kind, fields, from: peer)
      } else {
        handlers[type]?(fields, peer)
      }
    case .error(_, _, let text):
      // Whatever it contains, a terminal that shows the log takes it for text.
      complain(of: peer, "says: \(String(reflecting: String(text.prefix(200))))")
    case .join, .peer, .leave:
      logger.debug("\(peer) sent a handshake message in the middle of a connection")
    }
  }

  private func receive(_ payload: DocumentSync.Payload, on id: DocumentId, from peer: PeerId) {
    // Checked before any lookup, so that unknown and refused documents take the same time and get the same answer.
    let access = access(id, for: peer)
    guard access > .none else { return send(.unavailable, on: id, to: peer) }
    if let handle = slots[id]?.handle {
      handle.receive(.received(payload, from: peer, access: access))
      return
    }
    let isNew = slots[id] == nil
    let slot = slot(for: id)
    slot.queue(payload, from: peer)
    if isNew { load(slot) }
  }

  private func receive(_ message: RepoMessage.EphemeralMessage, from peer: PeerId) {
    guard message.senderId != peerId, let handle = handle(of: message.documentId),
      access(message.documentId, for: peer) > .none, handle.maySpeak(peer, for: message.senderId.owner),
      gate.accepts(message, via: peer, at: clock.now)
    else { return }
    handle.deliver(.ephemeral(message, via: peer))
    for other in handle.listeners(to: message.senderId, via: peer) where connections[other]?.isCrowded != true {
      var copy = message
      copy.targetId = other
      transmit(.ephemeral(copy), to: other)
    }
  }
}
