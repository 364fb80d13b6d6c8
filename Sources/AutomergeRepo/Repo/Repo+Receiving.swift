import Automerge

/// What the network brings to the repo.
extension Repo: NetworkDelegate {
  public func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    if connections.isConnected(peer) { forget(peer) }
    connections.opened(peer, metadata, by: provider)
    observers.send(provider.isSiblings ? .siblingConnected(peer) : .peerConnected(peer, metadata))
    for entry in entriesToTell(peer) {
      if let handle = entry.handle { introduce(peer, to: handle) }
    }
    guard !provider.isSiblings else { return }
    catalogues.begin(with: peer)
    remotes.heads.connected()
  }

  public func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {
    guard connections.isConnected(peer, by: provider) else { return }
    forget(peer)
  }

  private func forget(_ peer: PeerId) {
    let wasSibling = isSibling(peer)
    connections.closed(peer)
    connections.ephemeral.gate.forget(peer)
    catalogues.end(with: peer)
    remotes.heads.disconnected(peer)
    for entry in entriesLinked(to: peer) { entry.handle?.receive(.disconnected(peer)) }
    observers.send(wasSibling ? .siblingDisconnected(peer) : .peerDisconnected(peer))
  }

  public func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {
    guard connections.isConnected(peer, by: provider) else { return }
    connections.setCrowded(isCrowded, peer)
    for entry in entriesLinked(to: peer) { entry.handle?.receive(.crowded(peer, isCrowded)) }
  }

  public func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    guard connections.isConnected(peer, by: provider) else { return }
    switch message {
    case .document(let message) where message.content == .unavailable:
      entries[message.documentId]?.handle?.receive(.received(.unavailable, from: peer, access: .none))
    case .document(let message):
      receive(message.content, on: message.documentId, from: peer)
    case .ephemeral(let message):
      receive(message, from: peer)
    case .other(let type, let fields):
      if PrivateMessage.isType(type) {
        if let message = PrivateMessage(type: type, fields: fields) { receive(message, from: peer) }
      } else if let message = RemoteHeadsMessage(type: type, fields: fields) {
        remotes.heads.received(message, from: peer)
      } else {
        connections.received(type, fields, from: peer)
      }
    case .error(_, _, let text):
      // Whatever it contains, a terminal that shows the log takes it for text.
      complain(of: peer, "says: \(String(reflecting: String(text.prefix(200))))")
    case .join, .peer, .leave:
      logger.debug("\(peer) sent a handshake message in the middle of a connection")
    }
  }

  private func receive(_ content: RepoMessage.Content, on id: DocumentId, from peer: PeerId) {
    // Checked before any lookup, so that unknown and refused documents take the same time and get the same answer.
    let access = access(id, for: peer)
    guard access > .none else { return send(.unavailable, on: id, to: peer) }
    if let handle = entries[id]?.handle {
      remotes.syncStates.recall(peer, for: handle)
      handle.receive(.received(content, from: peer, access: access))
      return
    }
    let isNew = entries[id] == nil
    let entry = entry(for: id)
    entry.queue(content, from: peer)
    if isNew { load(entry) }
  }

  private func receive(_ message: RepoMessage.EphemeralMessage, from peer: PeerId) {
    guard message.senderId != peerId, let handle = handle(of: message.documentId),
      access(message.documentId, for: peer) > .none, handle.maySpeak(peer, for: message.senderId.owner),
      connections.ephemeral.gate.accepts(message, via: peer, at: clock.now)
    else { return }
    handle.deliver(.ephemeral(message, via: peer))
    for other in handle.reports.listeners(to: message.senderId, via: peer) where !connections.isCrowded(other) {
      var copy = message
      copy.targetId = other
      connections.send(.ephemeral(copy), to: other)
    }
  }

  private func receive(_ message: PrivateMessage, from peer: PeerId) {
    switch message {
    case .catalogueDigest(let digest): catalogues.received(digest: digest, from: peer)
    case .catalogueBuckets(let buckets): catalogues.received(buckets: buckets, from: peer)
    case .heads(let documents): catalogues.received(documents, from: peer)
    case .reach(let report, let id): handle(id, sharedWith: peer)?.reports.heard(report, from: peer)
    case .authors(let actors, let asks, let id):
      handle(id, sharedWith: peer)?.claims.heard(actors, from: peer, asks: asks)
    case .vouchRequest(let changes, let id):
      guard let handle = handle(id, sharedWith: peer) else { return }
      let known = changes.subtracting(handle.document.unknown(changes)).union(changes.intersection(handle.discarded))
      send(.vouchAnswer(known: known, of: changes, on: id), to: peer)
    case .vouchAnswer(let known, let changes, let id):
      handle(id, sharedWith: peer)?.receive(
        .authorship(.answered(known: known, unknown: changes.subtracting(known), by: peer)))
    case .signatures(let signatures, let id): handle(id, sharedWith: peer)?.signatures.heard(signatures, from: peer)
    case .signatureDigest(let digest, let id):
      handle(id, sharedWith: peer)?.signatures.heard(digest: digest, from: peer)
    }
  }

  /// The document in memory, if the peer has access to it.
  private func handle(_ id: DocumentId, sharedWith peer: PeerId) -> DocHandle? {
    access(id, for: peer) > .none ? entries[id]?.handle : nil
  }
}
