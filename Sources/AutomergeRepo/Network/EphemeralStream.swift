import Foundation

/// The ephemeral messages of a repo: numbers those that it sends, and admits those that it receives.
struct EphemeralStream {
  /// Identifies this run of the program.
  let sessionId: String
  private var count: UInt64 = 0
  var gate = EphemeralGate()

  init(sessionId: String) { self.sessionId = sessionId }

  /// The message to each of these peers; all of them count as one.
  mutating func messages(
    _ data: Data, on document: DocumentId, from local: PeerId, to peers: [PeerId]
  ) -> [RepoMessage.EphemeralMessage] {
    count += 1
    return peers.map { peer in
      RepoMessage.EphemeralMessage(
        senderId: local, targetId: peer, documentId: document, count: count, sessionId: sessionId, data: data)
    }
  }
}
