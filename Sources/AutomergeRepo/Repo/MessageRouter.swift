import Automerge

/// Passes each message of a peer to the part of the repo that handles it.
@AutomergeRepo
struct MessageRouter {
  let repo: Repo

  func received(_ message: RepoMessage, from peer: PeerId) {
    switch message {
    case .document(let message) where message.content == .unavailable:
      repo.entries[message.documentId]?.handle?.receive(.received(.unavailable, from: peer, access: .none))
    case .document(let message):
      receive(message.content, on: message.documentId, from: peer)
    case .ephemeral(let message):
      receive(message, from: peer)
    case .other(let type, let fields):
      if PrivateMessage.isType(type) {
        if let message = PrivateMessage(type: type, fields: fields) { receive(message, from: peer) }
      } else if let message = RemoteHeadsMessage(type: type, fields: fields) {
        repo.remotes.heads.received(message, from: peer)
      } else {
        repo.connections.received(type, fields, from: peer)
      }
    case .error(_, _, let text):
      // Escaped, because the peer's text must not control a terminal that shows the log.
      repo.complain(of: peer, "says: \(String(reflecting: String(text.prefix(200))))")
    case .join, .peer, .leave:
      repo.logger.debug("\(peer) sent a handshake message in the middle of a connection")
    }
  }

  private func receive(_ content: RepoMessage.Content, on id: DocumentId, from peer: PeerId) {
    // Checked before any lookup, so that unknown and refused documents take the same time and get the same answer.
    let access = repo.sharing.access(id, for: peer)
    guard access > .none else { return repo.connections.send(.unavailable, on: id, to: peer) }
    if let handle = repo.entries[id]?.handle {
      repo.remotes.syncStates.recall(peer, for: handle)
      handle.receive(.received(content, from: peer, access: access))
      return
    }
    let isNew = repo.entries[id] == nil
    let entry = repo.entries.entry(for: id)
    if isNew { repo.loader.load(entry) }
    guard entry.queued.add(content, from: peer) else {
      return repo.logger.debug("\(peer) sends more about \(id) than can wait until it is loaded")
    }
    repo.connections.hold(QueuedMessages.byteCount(of: content), of: peer)
  }

  private func receive(_ message: RepoMessage.EphemeralMessage, from peer: PeerId) {
    guard message.senderId != repo.peerId, let handle = repo.handle(of: message.documentId),
      repo.sharing.access(message.documentId, for: peer) > .none, handle.maySpeak(peer, for: message.senderId.owner),
      repo.connections.ephemeral.gate.accepts(message, via: peer, at: repo.clock.now)
    else { return }
    handle.deliver(.ephemeral(message, via: peer))
    for other in handle.reports.listeners(to: message.senderId, via: peer) where !repo.connections.isCrowded(other) {
      var copy = message
      copy.targetId = other
      repo.connections.send(.ephemeral(copy), to: other)
    }
  }

  private func receive(_ message: PrivateMessage, from peer: PeerId) {
    switch message {
    case .catalogueDigest(let digest): repo.upkeep.catalogues.received(digest: digest, from: peer)
    case .catalogueBuckets(let buckets): repo.upkeep.catalogues.received(buckets: buckets, from: peer)
    case .heads(let documents): repo.upkeep.catalogues.received(documents, from: peer)
    case .reach(let report, let id): handle(id, sharedWith: peer)?.reports.heard(report, from: peer)
    case .authors(let actors, let asks, let id):
      handle(id, sharedWith: peer)?.claims.heard(actors, from: peer, asks: asks)
    case .vouchRequest(let changes, let id):
      guard let handle = handle(id, sharedWith: peer) else { return }
      let known = changes.subtracting(handle.document.unknown(changes)).union(changes.intersection(handle.discarded))
      repo.connections.send(.vouchAnswer(known: known, of: changes, on: id), to: peer)
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
    repo.sharing.access(id, for: peer) > .none ? repo.entries[id]?.handle : nil
  }
}
