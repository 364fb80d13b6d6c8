import AutomergeRepo

/// What the access file allows the holder of a token, a peer, or everyone else.
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
  /// Whether a peer may create a document by sending one that the server does not have.
  public var mayCreate: Bool

  public init(access: Access, documents: Documents = .all, mayCreate: Bool = false) {
    (self.access, self.documents, self.mayCreate) = (access, documents, mayCreate)
  }

  public func access(to document: DocumentId) -> Access { documents.contains(document) ? access : .none }

  public func mayCreate(_ document: DocumentId) -> Bool {
    mayCreate && access == .write && documents.contains(document)
  }
}
