import Automerge
import Foundation

/// One method for each message to a peer.
extension PeerConnections {
  func send(_ content: RepoMessage.Content, on document: DocumentId, to peer: PeerId) {
    send(
      .document(.init(senderId: local.peerId, targetId: peer, documentId: document, content: content)), to: peer)
  }

  func send(_ message: PrivateMessage, to peer: PeerId) {
    send(type: message.type, fields: message.fields, to: peer)
  }

  /// Sends a message of a type that automerge-repo does not have.
  func send(type: String, fields: [String: CBOR], to peer: PeerId) {
    var fields = fields
    fields["senderId"] = .text(local.peerId.description)
    fields["targetId"] = .text(peer.description)
    send(.other(type: type, fields: fields), to: peer)
  }

  /// Sends a peer the heads of documents, in as many messages as they need.
  func sendHeads(of documents: [(DocumentId, Set<ChangeHash>)], to peer: PeerId) {
    for start in stride(from: 0, to: documents.count, by: PrivateMessage.maximumDocuments) {
      let part = documents[start..<min(documents.count, start + PrivateMessage.maximumDocuments)]
      send(.heads(part.map { (document: $0.0, heads: $0.1) }), to: peer)
    }
  }

  /// Sends signatures, in as many messages as they need.
  func send(_ signatures: [ChangeSignature], on document: DocumentId, to peer: PeerId) {
    for start in stride(from: 0, to: signatures.count, by: PrivateMessage.maximumSignatures) {
      let part = signatures[start..<min(signatures.count, start + PrivateMessage.maximumSignatures)]
      send(.signatures(Array(part), on: document), to: peer)
    }
  }

  /// Sends an ephemeral message to each of the document's peers that is at work on it and reads what we send.
  func broadcast(_ data: Data, on handle: DocHandle) {
    let listeners = handle.peers.filter { !handle.isIdle(with: $0) && !isCrowded($0) }
    for message in ephemeral.messages(data, on: handle.id, from: local.peerId, to: listeners) {
      send(.ephemeral(message), to: message.targetId)
    }
  }
}
