import Foundation

/// One message between peers, in the automerge-repo sync protocol, version 1.
public enum RepoMessage: Hashable, Sendable {
  case join(senderId: PeerId, metadata: PeerMetadata, versions: [String])
  case peer(senderId: PeerId, targetId: PeerId?, metadata: PeerMetadata, version: String?)
  case leave(senderId: PeerId)
  case error(senderId: PeerId?, targetId: PeerId?, message: String)
  /// `request`, `sync` or `doc-unavailable`.
  case document(DocumentMessage)
  case ephemeral(EphemeralMessage)
  /// Any other type, ours or a later version's, with all fields except `type`.
  case other(type: String, fields: [String: CBOR])

  /// What a peer says about its copy of a document.
  public enum Content: Hashable, Sendable {
    /// The first sync message of a peer that has nothing of the document, and needs an answer in any case.
    case request(Data)
    /// An Automerge sync message.
    case sync(Data)
    /// The peer does not have the document, or does not share it.
    case unavailable

    /// The Automerge sync message; nil for `unavailable`.
    public var data: Data? {
      switch self {
      case .request(let data), .sync(let data): data
      case .unavailable: nil
      }
    }

    var byteCount: Int { data?.count ?? 0 }

    var isRequest: Bool { if case .request = self { true } else { false } }
  }

  /// What a peer says about a document, with its sender and receiver.
  public struct DocumentMessage: Hashable, Sendable {
    public var senderId: PeerId
    public var targetId: PeerId
    public var documentId: DocumentId
    public var content: Content

    public init(senderId: PeerId, targetId: PeerId, documentId: DocumentId, content: Content) {
      (self.senderId, self.targetId, self.documentId, self.content) = (senderId, targetId, documentId, content)
    }
  }

  /// A message to all peers on a document, never stored.
  public struct EphemeralMessage: Hashable, Sendable {
    /// The message's author, also when another peer passes it on.
    public var senderId: PeerId
    public var targetId: PeerId
    public var documentId: DocumentId
    /// Increases with each message of a session.
    public var count: UInt64
    /// Identifies one run of the author's program.
    public var sessionId: String
    /// The program's own data, as CBOR.
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
  /// A message that carries no changes and is longer than any such message needs to be.
  case tooLong(type: String, byteCount: Int)
}
