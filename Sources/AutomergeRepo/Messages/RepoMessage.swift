import Foundation

/// One message between peers, in the automerge-repo sync protocol, version 1.
public enum RepoMessage: Hashable, Sendable {
  case join(senderId: PeerId, metadata: PeerMetadata, versions: [String])
  case peer(senderId: PeerId, targetId: PeerId?, metadata: PeerMetadata, version: String?)
  case leave(senderId: PeerId)
  case error(senderId: PeerId?, targetId: PeerId?, message: String)
  /// The first sync message of a peer that has nothing of the document: asks for an answer in any case.
  case request(DocumentMessage)
  case sync(DocumentMessage)
  case docUnavailable(senderId: PeerId, targetId: PeerId, documentId: DocumentId)
  case ephemeral(EphemeralMessage)
  /// Any other type, ours or a later version's, with all its fields but `type`.
  case other(type: String, fields: [String: CBOR])

  /// A sync message with its sender and receiver.
  public struct DocumentMessage: Hashable, Sendable {
    public var senderId: PeerId
    public var targetId: PeerId
    public var documentId: DocumentId
    /// An Automerge sync message.
    public var data: Data

    public init(senderId: PeerId, targetId: PeerId, documentId: DocumentId, data: Data) {
      (self.senderId, self.targetId, self.documentId, self.data) = (senderId, targetId, documentId, data)
    }
  }

  /// A message to all peers on a document, never stored.
  public struct EphemeralMessage: Hashable, Sendable {
    /// The author, also when another peer passes it on.
    public var senderId: PeerId
    public var targetId: PeerId
    public var documentId: DocumentId
    /// Rises with each message of a session.
    public var count: UInt64
    /// One run of the author's program.
    public var sessionId: String
    /// The program's own CBOR.
    public var data: Data

    public init(
      senderId: PeerId, targetId: PeerId, documentId: DocumentId, count: UInt64, sessionId: String, data: Data
    ) {
      (self.senderId, self.targetId, self.documentId) = (senderId, targetId, documentId)
      (self.count, self.sessionId, self.data) = (count, sessionId, data)
    }
  }
}

/// Why bytes are not a message that we accept.
public enum RepoMessageError: Error, Hashable, Sendable {
  case notCBOR(CBORError)
  /// Not a map, or a map without a `type`.
  case notAMessage
  /// A field that the type needs is missing or has the wrong kind of value.
  case badField(type: String, field: String)
  /// A message without a document that is longer than any such message need be.
  case tooLong(type: String, byteCount: Int)
}
