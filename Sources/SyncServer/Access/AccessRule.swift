import AutomergeRepo

/// What the access file allows the holder of a token, a peer, or everybody else.
public struct AccessRule: Hashable, Sendable {
  public enum Documents: Hashable, Sendable {
    case all
    case listed(Set<DocumentId>)

    func contains(_ document: DocumentId) -> Bool {
      switch self {
      case .all: true
      case .listed(let ids): ids.contains(document)
      }
    }
  }

  public static let nothing = AccessRule(access: .none)

  public var access: Access
  public var documents: Documents
  /// Whether a document that the server does not have comes into being by being sent.
  public var mayCreate: Bool

  public init(access: Access, documents: Documents = .all, mayCreate: Bool = false) {
    (self.access, self.documents, self.mayCreate) = (access, documents, mayCreate)
  }

  public func access(to document: DocumentId) -> Access { documents.contains(document) ? access : .none }

  public func mayCreate(_ document: DocumentId) -> Bool {
    mayCreate && access == .write && documents.contains(document)
  }
}
