import Automerge
import Foundation
import Logging

/// How the repo works with peers.
extension Repo {
  /// Called before anything is sent to a peer, and after each change of a document was handled. A program that buffers
  /// journal entries in memory writes them then.
  public var beforeSending: (@AutomergeRepo () -> Void)? {
    get { connections.beforeSending }
    set { connections.beforeSending = newValue }
  }

  /// How this repo introduces itself to peers.
  public var metadata: PeerMetadata { connections.local.metadata }

  /// Sets how networks that are added from now on introduce this repo.
  public func update(_ metadata: PeerMetadata) { connections.update(metadata) }

  /// Starts to use a network, for the life of the repo. Does nothing if it is in use already, or after `shutDown`.
  public func add(_ network: any NetworkProvider) { connections.add(network, delegate: self) }

  /// The same, by automerge-repo-swift's name for it.
  public func addNetworkAdapter(adapter: any NetworkProvider) { add(adapter) }

  /// The connected peers, with what they say about themselves, without other processes of this person.
  public var peers: [PeerId: PeerMetadata] { connections.peers }

  /// The connected peers with what they say about themselves and what they have proved, in order.
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
    connections.send(type: type, fields: fields, to: peer)
  }

  /// Logs a peer's violations, at most a few times per connection, so that a hostile peer cannot fill the disk.
  public func complain(of peer: PeerId, _ what: String) { connections.complain(of: peer, what) }

  // MARK: Sharing

  /// Evaluates the share policy again, for one document or for all, and starts or stops sharing accordingly.
  public func policyChanged(for document: DocumentId? = nil) {
    upkeep.catalogues.policyChanged()
    remotes.heads.policyChanged()
    let changed = document.map { [entries[$0]].compactMap(\.self) } ?? entries.sorted
    for entry in changed {
      guard let handle = entry.handle else { continue }
      for peer in handle.sync.linkedPeers { handle.receive(.accessChanged(peer, sharing.access(entry.id, for: peer))) }
    }
    for peer in connections.all {
      for entry in document == nil ? sharing.entries(toTell: peer) : changed {
        if let handle = entry.handle, !handle.sync.linkedPeers.contains(peer) { introduce(peer, to: handle) }
      }
    }
    if document == nil { loader.takeOffers() }
  }

  /// Repairs syncs that a lost message has stopped; call at regular intervals. Compares a document with a peer anew if
  /// their heads differ and neither have changed since the last call.
  ///
  /// - Complexity: O(n) in the documents to which something has happened since the last call, and in those whose heads
  ///   differ
  public func checkForStalls() { upkeep.check() }

  /// Returns the documents to which something has happened since the last call: those that were loaded, those that
  /// changed, and those that a peer joined, left or sent something about.
  package func takeUsedDocuments() -> Set<DocumentId> { upkeep.takeUsed() }

  /// Announces a document to a peer and asks the peer for it, if the policy allows.
  func introduce(_ peer: PeerId, to handle: DocHandle) {
    guard sharing.announces(handle.id, to: peer) else { return }
    remotes.syncStates.recall(peer, for: handle)
    connect(peer, to: handle, access: sharing.access(handle.id, for: peer))
    if connections.isCrowded(peer) { handle.receive(.crowded(peer, true)) }
  }

  /// Makes a peer one of the document's, with what it has sent before the document was released.
  func connect(_ peer: PeerId, to handle: DocHandle, access: Access) {
    handle.receive(.connected(peer, access: access))
    if let heads = connections.takeHeads(of: handle.id, from: peer) { handle.receive(.told(heads: heads, by: peer)) }
  }

  func refused(_ refusal: DocumentSync.Refusal, from peer: PeerId, on handle: DocHandle) {
    switch refusal {
    case .readOnly: handle.deliver(.refusedChanges(from: peer))
    case .malformed: complain(of: peer, "sent a malformed sync message for \(handle.id)")
    case .rejected(let reason): complain(of: peer, "sent changes for \(handle.id) that were refused: \(reason)")
    }
  }
}
