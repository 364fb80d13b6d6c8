import Automerge
import Foundation
import Logging

/// The repo's dealings with peers.
extension Repo {
  /// Called before anything is sent to a peer, and after each change of a document was handled. A program that holds journal
  /// entries in memory until then writes them now.
  public var beforeSending: (@AutomergeRepo () -> Void)? {
    get { connections.beforeSending }
    set { connections.beforeSending = newValue }
  }

  /// How we introduce ourselves to peers.
  public var metadata: PeerMetadata { connections.local.metadata }

  /// How networks that are added from now on introduce us.
  public func update(_ metadata: PeerMetadata) { connections.update(metadata) }

  /// Starts to use a network, for the life of the repo.
  public func add(_ network: any NetworkProvider) { connections.add(network, delegate: self) }

  /// The connected peers, with what they tell about themselves. Other processes of this person are not among them.
  public var peers: [PeerId: PeerMetadata] { connections.peers }

  /// The connected peers with what they tell about themselves and what they have proved, in order.
  public var connectedPeers: [ConnectedPeer] { connections.connectedPeers }

  /// The connected processes of the same person on the same store.
  public var siblings: [PeerId] { connections.siblings }

  public func disconnect(_ peer: PeerId) { connections.disconnect(peer) }

  /// Calls `handler` with the fields of each message of a type that the repo does not know itself.
  public func onMessage(
    ofType type: String, _ handler: @escaping @AutomergeRepo ([String: CBOR], PeerId) -> Void
  ) {
    connections.handle(type, handler)
  }

  /// Sends a message of a program's own type. It is dropped if the peer is not connected.
  public func send(type: String, fields: [String: CBOR], to peer: PeerId) {
    var fields = fields
    fields["senderId"] = .text(peerId.description)
    fields["targetId"] = .text(peer.description)
    connections.send(.other(type: type, fields: fields), to: peer)
  }

  /// Logs a peer's violations, at most a few times per connection, so that a hostile peer cannot fill the disk.
  public func complain(of peer: PeerId, _ what: String) { connections.complain(of: peer, what) }

  // MARK: Access

  func isSibling(_ peer: PeerId) -> Bool { connections.isSibling(peer) }

  /// A peer's access to a document. One that may not create it can only ask for it until it is here.
  func access(_ document: DocumentId, for peer: PeerId) -> Access {
    if isSibling(peer) { return .write }
    guard let connected = connections[peer] else { return policy.access(document, for: peer) }
    let access = policy.access(document, for: connected)
    guard access == .write, !policy.mayCreate(document, peer), entries[document]?.isReady != true else { return access }
    return .read
  }

  func announces(_ document: DocumentId, to peer: PeerId) -> Bool {
    if isSibling(peer) { return true }
    guard let peer = connections[peer] else { return policy.announce(document, to: peer) }
    return policy.announce(document, to: peer)
  }

  /// Whether a peer may write as an actor.
  func fits(_ actor: ActorId, _ peer: PeerId) -> Bool {
    policy.fits(actor, isSibling(peer) ? peerId : peer)
  }

  /// In the same order in every run.
  var sortedEntries: [DocumentEntry] { sorted(entries.values) }

  private func sorted(_ entries: some Sequence<DocumentEntry>) -> [DocumentEntry] {
    entries.sorted { $0.id.description < $1.id.description }
  }

  /// The documents in memory that a peer may be told of.
  func entriesToTell(_ peer: PeerId) -> [DocumentEntry] {
    guard !isSibling(peer), let shared = policy.documents(sharedWith: peer) else { return sortedEntries }
    return sorted(shared.compactMap { entries[$0] })
  }

  /// The documents in memory that a peer has spoken of, or was told of.
  func entriesLinked(to peer: PeerId) -> [DocumentEntry] {
    sorted(entries.values.filter { $0.handle?.sync.linkedPeers.contains(peer) ?? false })
  }

  /// Evaluates the share policy again, for one document or for all, and begins or ends sharing accordingly.
  public func policyChanged(for document: DocumentId? = nil) {
    upkeep.catalogues.policyChanged()
    let changed = document.map { [entries[$0]].compactMap(\.self) } ?? sortedEntries
    for entry in changed {
      guard let handle = entry.handle else { continue }
      for peer in handle.sync.linkedPeers { handle.receive(.accessChanged(peer, access(entry.id, for: peer))) }
    }
    for peer in connections.all {
      for entry in document == nil ? entriesToTell(peer) : changed {
        if let handle = entry.handle, !handle.sync.linkedPeers.contains(peer) { introduce(peer, to: handle) }
      }
    }
  }

  /// Repairs syncs that a lost message has stopped; call at regular intervals. A document whose heads differ from a peer's,
  /// when neither's have changed since the last call, is compared with that peer anew.
  ///
  /// - Complexity: O(n) in the documents to which something has happened since the last call, and those whose heads differ
  public func checkForStalls() { upkeep.check() }

  /// Returns the documents to which something has happened since the last call: those that came into memory, those that have
  /// changed, and those in which a peer's part has.
  package func takeUsedDocuments() -> Set<DocumentId> { upkeep.takeUsed() }

  /// Announces a document to a peer, or asks the peer for it, if the policy allows.
  func introduce(_ peer: PeerId, to handle: DocHandle) {
    guard announces(handle.id, to: peer) else { return }
    remotes.syncStates.recall(peer, for: handle)
    handle.receive(.connected(peer, access: access(handle.id, for: peer)))
    if connections.isCrowded(peer) { handle.receive(.crowded(peer, true)) }
  }

  // MARK: Sending

  func send(_ content: RepoMessage.Content, on id: DocumentId, to peer: PeerId) {
    connections.send(
      .document(.init(senderId: peerId, targetId: peer, documentId: id, content: content)), to: peer)
  }

  func send(_ message: PrivateMessage, to peer: PeerId) {
    send(type: message.type, fields: message.fields, to: peer)
  }

  /// Tells a peer the heads of documents, in as many messages as it takes.
  func sendHeads(of documents: [(DocumentId, Set<ChangeHash>)], to peer: PeerId) {
    for start in stride(from: 0, to: documents.count, by: PrivateMessage.maximumDocuments) {
      let part = documents[start..<min(documents.count, start + PrivateMessage.maximumDocuments)]
      send(.heads(part.map { (document: $0.0, heads: $0.1) }), to: peer)
    }
  }

  /// Sends signatures, in as many messages as it takes.
  func send(_ signatures: [ChangeSignature], on document: DocumentId, to peer: PeerId) {
    for start in stride(from: 0, to: signatures.count, by: PrivateMessage.maximumSignatures) {
      let part = signatures[start..<min(signatures.count, start + PrivateMessage.maximumSignatures)]
      send(.signatures(Array(part), on: document), to: peer)
    }
  }

  func broadcast(_ data: Data, on handle: DocHandle) {
    let listeners = handle.peers.filter { !handle.isIdle(with: $0) && !connections.isCrowded($0) }
    for message in connections.ephemeral.messages(data, on: handle.id, from: peerId, to: listeners) {
      connections.send(.ephemeral(message), to: message.targetId)
    }
  }

  func refused(_ refusal: DocumentSync.Refusal, from peer: PeerId, on handle: DocHandle) {
    switch refusal {
    case .readOnly: handle.deliver(.refusedChanges(from: peer))
    case .malformed: complain(of: peer, "sent a malformed sync message for \(handle.id)")
    case .rejected(let reason): complain(of: peer, "sent changes for \(handle.id) that were refused: \(reason)")
    }
  }
}
