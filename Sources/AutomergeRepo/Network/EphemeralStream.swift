import Foundation

/// Numbers the ephemeral messages that a repo sends, and decides which received ones it delivers.
struct EphemeralStream {
  /// Identifies this run of the program.
  let sessionId: String
  private var count: UInt64 = 0
  var gate = EphemeralGate()

  init(sessionId: String) { self.sessionId = sessionId }

  /// One message for each of these peers, all with the same number.
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
